import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { field, framed, rpc, wideSession } from "../../bench/hostile/http2.js";
import { heldBytes } from "../../src/core/index.js";
import { begin, initialize, json, post } from "../http/requests.js";
import { lab, MIB, outcome, request, SERVICE, sendAll, socketOf, unary, until, watchHeld } from "./bounded.js";

const auth = { verify: (token: string) => ({ id: token }) };
const tool = (id: number | string, name: string, args: object = {}): string =>
  request(id as number, "tools/call", { name, arguments: args });

interface Answer {
  readonly id: number;
  readonly result?: object;
  readonly error?: { readonly data: { readonly limit: string; readonly max: number } };
}

async function socketAs(port: number, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, ["mcp"], { headers: { authorization: `Bearer ${token}` } });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return socket;
}

function hear(socket: WebSocket): Answer[] {
  const answers: Answer[] = [];
  socket.on("message", (data) => answers.push(JSON.parse(String(data)) as Answer));
  return answers;
}

describe("the headers of requests that are open", () => {
  const large = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`x-large-${n}`, String(n).repeat(3500)]));

  it("are counted over gRPC, however few bytes HTTP/2 packs them into", async () => {
    await using at = await lab("grpc://127.0.0.1:0", { connectionBytes: MIB });
    const session = await wideSession(at.port);
    const refused: unknown[] = [];
    for (let n = 0; n < 100; n++) void outcome(rpc(session, `${SERVICE}CallTool`, large)).then((how) => refused.push(how));
    await until(() => refused.length > 20);
    expect(refused[0]).toMatchObject({
      status: "8",
      message: `the server holds too much data for this connection: the limit is ${MIB} bytes`,
    });
    expect(heldBytes()).toBeGreaterThan(0.8 * MIB);
    expect(heldBytes()).toBeLessThanOrEqual(MIB + 64 * 1024);
    session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("are counted over HTTP/2", async () => {
    await using at = await lab("http://127.0.0.1:0", { connectionBytes: 2 * MIB });
    const session = connectHttp2(`http://127.0.0.1:${at.port}`);
    session.on("error", () => {});
    const statuses: unknown[] = [];
    for (let n = 0; n < 300; n++) {
      const stream = session.request({ ":method": "POST", ":path": "/mcp", "content-type": "application/json", ...large });
      stream.on("error", () => {}).on("response", (headers) => statuses.push(headers[":status"]));
    }
    await until(() => statuses.length > 100);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(heldBytes()).toBeLessThanOrEqual(2 * MIB + 64 * 1024);
    session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("are counted over HTTP/1.1, where requests need not wait for each other", async () => {
    await using at = await lab("http://127.0.0.1:0", { connectionBytes: MIB });
    const socket = connectTcp({ host: "127.0.0.1", port: at.port });
    let heard = "";
    socket.on("data", (chunk) => {
      heard += String(chunk);
    });
    const call = tool(1, "wait");
    const head = [
      "POST /mcp HTTP/1.1",
      "Host: localhost",
      ...Object.entries({ ...json, ...large, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "wait" }).map(
        ([name, value]) => `${name}: ${value}`,
      ),
      `Content-Length: ${call.length}`,
    ].join("\r\n");
    socket.on("error", () => {});
    const held = watchHeld();
    // Without their headers so many would fit.
    for (let n = 0; n < 80; n++) {
      socket.write(`${head}\r\n\r\n${call}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => socket.closed);
    expect(held.most()).toBeGreaterThan(0.8 * MIB);
    expect(held.most()).toBeLessThanOrEqual(MIB + 64 * 1024);
    expect(heard).toBe("");
    await until(() => heldBytes() === 0);
  });

  it("are refused beyond headerBytes, also before a client has agreed to the limit", async () => {
    await using grpc = await lab("grpc://127.0.0.1:0", {});
    const huge = { ...large, "x-more": "m".repeat(8000) };
    const early = connectHttp2(`http://127.0.0.1:${grpc.port}`);
    const first = await outcome(rpc(early, `${SERVICE}Ping`, huge));
    expect(first).toMatchObject({ status: "8", message: "the headers are larger than 16384 bytes" });
    early.destroy();
    await using http = await lab("http://127.0.0.1:0", {});
    expect((await fetch(`http://127.0.0.1:${http.port}/mcp`, { headers: huge })).status).toBe(431);
    await until(() => heldBytes() === 0);
  });

  it("are counted for a session that keeps them", async () => {
    await using at = await lab("http://127.0.0.1:0", { principalBytes: MIB });
    let answer: { readonly error?: object } = {};
    let begun = 0;
    for (; answer.error === undefined && begun < 300; begun++)
      answer = (await (await post(`http://127.0.0.1:${at.port}/mcp`, initialize(), large)).json()) as typeof answer;
    expect(answer).toMatchObject({ error: { data: { limit: "principalBytes", max: MIB } } });
    expect(begun).toBeGreaterThan(50);
    expect(begun).toBeLessThan(110);
  });
});

describe("calls in flight", () => {
  it("count all of their params, and what these take as values", async () => {
    const connectionBytes = 4 * MIB;
    await using at = await lab("ws://127.0.0.1:0", { connectionBytes });
    const socket = await socketOf(at.port);
    const answers = hear(socket);
    const many = Array.from({ length: 1500 }, () => ({}));
    sendAll(
      socket,
      Array.from({ length: 200 }, (_, id) => tool(id, "wait", { many })),
    );
    await until(() => answers.length > 100);
    for (const { error } of answers) expect(error?.data).toEqual({ limit: "connectionBytes", max: connectionBytes });
    expect(heldBytes()).toBeLessThanOrEqual(connectionBytes + 64 * 1024);
    expect(heldBytes()).toBeGreaterThan(connectionBytes / 2);
    socket.terminate();
    await until(() => heldBytes() === 0);
  });

  it.each([
    ["inFlightPerPrincipal", "one", "two"],
    ["inFlightPerProcess", "one", undefined],
  ])("that are tiny are bounded by their number: %s", async (limit, many, other) => {
    await using at = await lab("ws://127.0.0.1:0", { [limit]: 100 }, { auth });
    const sockets = await Promise.all([socketAs(at.port, many), socketAs(at.port, many)]);
    const heard = sockets.map(hear);
    for (const socket of sockets)
      sendAll(
        socket,
        Array.from({ length: 80 }, (_, id) => tool(id, "wait")),
      );
    await until(() => heard.flat().length === 60);
    for (const { error } of heard.flat()) expect(error?.data).toEqual({ limit, max: 100 });
    const neighbour = await socketAs(at.port, "two");
    const answers = hear(neighbour);
    neighbour.send(tool(1, "echo", { text: "x" }));
    await until(() => answers.length === 1);
    if (other === undefined) expect(answers[0]?.error?.data.limit).toBe(limit);
    else expect(answers[0]?.result).toBeDefined();
    // Whoever leaves makes room.
    for (const socket of sockets) socket.terminate();
    await until(() => heldBytes() < 64 * 1024);
    neighbour.send(tool(2, "echo", { text: "x" }));
    await until(() => answers.length === 2);
    expect(answers[1]?.result).toBeDefined();
    neighbour.terminate();
  });

  it("of one principal are bounded on however many links, and leave those of another alone", async () => {
    const principalBytes = 2 * MIB;
    await using at = await lab("ws://127.0.0.1:0", { principalBytes }, { auth });
    const sockets = await Promise.all(Array.from({ length: 6 }, () => socketAs(at.port, "one")));
    const heard = sockets.map(hear);
    for (const socket of sockets)
      sendAll(
        socket,
        Array.from({ length: 400 }, (_, id) => tool(id, "wait")),
      );
    await until(() => heard.flat().length > 1000);
    for (const { error } of heard.flat()) expect(error?.data).toEqual({ limit: "principalBytes", max: principalBytes });
    const other = await socketAs(at.port, "two");
    const answers = hear(other);
    for (let id = 0; id < 200; id++) other.send(tool(id, "echo", { text: "hello" }));
    await until(() => answers.length === 200);
    for (const answer of answers) expect(answer).toMatchObject({ result: { content: [{ text: "hello" }] } });
    for (const socket of [...sockets, other]) socket.terminate();
    await until(() => heldBytes() === 0);
  });

  it("are bounded for the whole process", async () => {
    const processBytes = 2 * MIB;
    await using at = await lab("ws://127.0.0.1:0", { processBytes });
    const sockets = await Promise.all(Array.from({ length: 8 }, () => socketOf(at.port)));
    const heard = sockets.map(hear);
    for (const socket of sockets)
      sendAll(
        socket,
        Array.from({ length: 300 }, (_, id) => tool(id, "wait")),
      );
    await until(() => heard.flat().length > 1500);
    for (const { error } of heard.flat()) expect(error?.data).toEqual({ limit: "processBytes", max: processBytes });
    expect(heldBytes()).toBeLessThanOrEqual(processBytes + 8 * 64 * 1024);
    for (const socket of sockets) socket.terminate();
    await until(() => heldBytes() === 0);
  });
});

describe("messages that one principal leaves incomplete on many connections", () => {
  const limits = { principalBytes: 2 * MIB, processBytes: 32 * MIB };

  it("over HTTP: they use up its share, and the calls of another are answered", async () => {
    await using at = await lab("http://127.0.0.1:0", limits, { auth });
    const answers: string[] = [];
    const sockets = Array.from({ length: 6 }, () => {
      const socket = connectTcp({ host: "127.0.0.1", port: at.port });
      socket.on("data", (chunk) => answers.push(String(chunk)));
      const head = ["POST /mcp HTTP/1.1", "Host: localhost", "Authorization: Bearer one", "Content-Type: application/json"];
      socket.write(`${head.join("\r\n")}\r\nContent-Length: ${8 * MIB}\r\n\r\n`);
      socket.write(Buffer.alloc(0.9 * MIB, " "));
      return socket;
    });
    await until(() => answers.length >= 4);
    for (const answer of answers) expect(answer).toContain('"limit":"principalBytes"');
    for (let id = 0; id < 20; id++) {
      const headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "length",
        authorization: "Bearer two",
      };
      const answer = await post(`http://127.0.0.1:${at.port}/mcp`, tool(id, "length", { text: "x".repeat(100_000) }), headers);
      expect(await answer.json()).toMatchObject({ result: { content: [{ text: "100000" }] } });
    }
    for (const socket of sockets) socket.destroy();
    await until(() => heldBytes() === 0);
  });

  it("over gRPC", async () => {
    await using at = await lab("grpc://127.0.0.1:0", limits, { auth });
    const sessions = await Promise.all(Array.from({ length: 6 }, () => wideSession(at.port)));
    const refused: unknown[] = [];
    for (const session of sessions) {
      const stream = rpc(session, `${SERVICE}CallTool`, { authorization: "Bearer one" });
      void outcome(stream).then((how) => refused.push(how));
      stream.write(framed(Buffer.alloc(0.9 * MIB), { declared: 8 * MIB }));
    }
    await until(() => refused.length >= 4);
    expect(refused[0]).toMatchObject({ status: "8", message: expect.stringContaining("for this caller") });
    const neighbour = await wideSession(at.port);
    const call = Buffer.concat([field(1, "length"), field(102, JSON.stringify({ text: "x".repeat(100_000) }))]);
    for (let n = 0; n < 20; n++)
      expect((await unary(neighbour, "CallTool", call, { headers: { authorization: "Bearer two" } })).status).toBe("0");
    for (const session of [...sessions, neighbour]) session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("over WebSocket", async () => {
    await using at = await lab("ws://127.0.0.1:0", limits, { auth });
    const sockets = await Promise.all(Array.from({ length: 6 }, () => socketAs(at.port, "one")));
    const closed: { code: number; reason: string }[] = [];
    for (const socket of sockets) {
      socket.once("close", (code, reason) => closed.push({ code, reason: String(reason) }));
      for (let part = 0; part < 4; part++) socket.send("x".repeat(0.2 * MIB), { fin: false });
    }
    await until(() => closed.length >= 3);
    expect(closed[0]).toMatchObject({ code: 1009, reason: expect.stringContaining("for this caller") });
    const other = await socketAs(at.port, "two");
    const answers = hear(other);
    for (let id = 0; id < 20; id++) other.send(tool(id, "length", { text: "x".repeat(100_000) }));
    await until(() => answers.length === 20);
    for (const answer of answers) expect(answer).toMatchObject({ result: { content: [{ text: "100000" }] } });
    for (const socket of [...sockets, other]) socket.terminate();
    await until(() => heldBytes() === 0);
  });
});

describe("what a client chooses to be called by", () => {
  it("an id or a progress token beyond idChars is refused", async () => {
    await using at = await lab("ws://127.0.0.1:0", {});
    const socket = await socketOf(at.port);
    const answers = hear(socket);
    socket.send(tool("i".repeat(2000), "echo", { text: "x" }));
    const call = JSON.parse(tool(1, "echo", { text: "x" })) as { params: { _meta: Record<string, unknown> } };
    call.params._meta["progressToken"] = "p".repeat(2000);
    socket.send(JSON.stringify(call));
    await until(() => answers.length === 2);
    for (const { error } of answers) expect(error?.data).toEqual({ limit: "idChars", max: 1024 });
    socket.close();
  });

  it("an id of a call on a stream of tool calls is, too", async () => {
    await using at = await lab("grpc://127.0.0.1:0", {});
    const session = await wideSession(at.port);
    const stream = rpc(session, `${SERVICE}StreamToolCalls`);
    let heard = "";
    stream.on("data", (chunk: Buffer) => {
      heard += chunk.toString("latin1");
    });
    stream.end(framed(Buffer.concat([field(1, "i".repeat(2000)), field(2, "echo")])));
    await outcome(stream);
    expect(heard).toContain("idChars");
    session.destroy();
  });

  it("a client that says too much of itself gets no session", async () => {
    await using at = await lab("http://127.0.0.1:0", {});
    const body = initialize("2025-11-25", { experimental: { text: "x".repeat(100_000) } });
    const answer = await post(`http://127.0.0.1:${at.port}/mcp`, body);
    expect(await answer.json()).toMatchObject({ error: { data: { limit: "clientBytes", max: 65536 } } });
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    await until(() => heldBytes() === 0);
  });
});

describe("what is kept between requests", () => {
  it("counts the URIs that a session subscribes to, and refuses one beyond uriChars", async () => {
    await using at = await lab("http://127.0.0.1:0", { principalBytes: MIB });
    const url = `http://127.0.0.1:${at.port}/mcp`;
    const headers = await begin(url);
    const subscribe = async (id: number, uri: string): Promise<Answer> =>
      (await post(url, { jsonrpc: "2.0", id, method: "resources/subscribe", params: { uri } }, headers)).json() as Promise<Answer>;
    expect((await subscribe(0, `b:${"u".repeat(10_000)}`)).error?.data).toEqual({ limit: "uriChars", max: 8192 });
    let last: Answer | undefined;
    let count = 0;
    while (last?.error === undefined && count < 200) last = await subscribe(++count, `b:${count}${"u".repeat(8000)}`);
    expect(last?.error?.data).toEqual({ limit: "principalBytes", max: MIB });
    expect(count).toBeGreaterThan(60);
    expect(count).toBeLessThan(120);
    await fetch(url, { method: "DELETE", headers: { ...json, ...headers } });
    await until(() => heldBytes() === 0);
  });

  it("counts the params of a list that waits for its next page", async () => {
    await using at = await lab("http://127.0.0.1:0", { parkedMs: 400 }, { pageSize: 1 });
    const held = watchHeld();
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    for (let id = 0; id < 20; id++)
      await (await post(`http://127.0.0.1:${at.port}/mcp`, request(id, "tools/list", { more: "x".repeat(50_000) }), headers)).text();
    expect(heldBytes()).toBeGreaterThan(MIB * 0.9);
    expect(held.most()).toBeLessThan(2 * MIB);
    await until(() => heldBytes() === 0);
  });
});
