import { connect as connectTcp } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { field, framed, rpc, wideSession } from "../../bench/hostile/http2.js";
import { createServer } from "../../src/api/index.js";
import { Fault, heldBytes } from "../../src/core/index.js";
import { decompress } from "../../src/io/grpc/coding.js";
import { fetchHandler } from "../../src/wires/http/index.js";
import { lab, MIB, outcome, SERVICE, unary, until, watchHeld } from "./bounded.js";

const limits = { connectionBytes: 4 * MIB };
const call = (text: string): Buffer => Buffer.concat([field(1, "length"), field(102, JSON.stringify({ text }))]);

describe("messages that stay incomplete", () => {
  it("over gRPC: the stream that has no room is refused, and the others by their time", async () => {
    await using at = await lab("grpc://127.0.0.1:0", { ...limits, messageMs: 700 });
    const session = await wideSession(at.port);
    const began = Date.now();
    const outcomes = Array.from({ length: 8 }, () => {
      const stream = rpc(session, `${SERVICE}CallTool`);
      stream.write(framed(Buffer.alloc(MIB), { declared: 8 * MIB }));
      return outcome(stream);
    });
    expect((await unary(session, "Ping", Buffer.alloc(0))).status).toBe("0");
    const ended = await Promise.all(outcomes);
    const refused = ended.filter(({ status }) => status === "8");
    expect(refused.length).toBeGreaterThanOrEqual(4);
    expect(refused[0]).toMatchObject({ message: expect.stringContaining("too much data for this connection") });
    const late = ended.filter(({ status }) => status === "4");
    expect(late.length + refused.length).toBe(8);
    expect(late[0]?.message).toBe("a message did not arrive whole within 700 ms");
    expect(Date.now() - began).toBeGreaterThan(600);
    expect(heldBytes()).toBe(0);
    session.destroy();
  });

  it.each(["application/json", "application/grpc-web+proto"])("over Connect and gRPC-Web, as %s: refused by their time", async (type) => {
    await using at = await lab("grpc://127.0.0.1:0", { messageMs: 300 });
    const socket = connectTcp({ host: "127.0.0.1", port: at.port });
    const head = [`POST ${SERVICE}Ping HTTP/1.1`, "host: 127.0.0.1", `content-type: ${type}`, "content-length: 100", "connection: close"];
    socket.write(`${head.join("\r\n")}\r\n\r\n{`);
    let heard = "";
    for await (const chunk of socket) heard += String(chunk);
    expect(heard.replaceAll("%20", " ")).toContain("the body did not arrive within 300 ms");
  });

  it("over WebSocket: the socket is closed, by its share or by its time", async () => {
    await using roomy = await lab("ws://127.0.0.1:0", limits);
    await using hasty = await lab("ws://127.0.0.1:0", { ...limits, messageMs: 500 });
    const begin = async (
      at: { readonly port: number },
      bytes: number,
      options: { ping?: boolean } = {},
    ): Promise<{ code: number; reason: string }> => {
      const socket = new WebSocket(`ws://127.0.0.1:${at.port}/mcp`, ["mcp"]);
      await new Promise((resolve) => socket.once("open", resolve));
      const closed = new Promise<{ code: number; reason: string }>((resolve) =>
        socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
      );
      for (let sent = 0; sent < bytes; sent += MIB / 4) {
        socket.send("x".repeat(MIB / 4), { fin: false });
        if (options.ping === true) socket.ping();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return closed;
    };
    expect(await begin(roomy, 6 * MIB)).toMatchObject({ code: 1009, reason: expect.stringContaining("for this connection") });
    // What comes between the pieces does not make them less.
    expect(await begin(roomy, 6 * MIB, { ping: true })).toMatchObject({ code: 1009 });
    expect(await begin(hasty, MIB)).toEqual({ code: 1008, reason: "a message did not arrive whole within 500 ms" });
    await until(() => heldBytes() === 0);
  });

  it("a WebSocket that only pings and pongs stays open", async () => {
    await using at = await lab("ws://127.0.0.1:0", { messageMs: 200 }, { pingMs: 50 });
    const socket = new WebSocket(`ws://127.0.0.1:${at.port}/mcp`, ["mcp"]);
    await new Promise((resolve) => socket.once("open", resolve));
    for (let n = 0; n < 20; n++) {
      socket.ping(Buffer.alloc(n));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close();
  });

  it("over HTTP: bodies on many connections share what the process may hold, and a neighbour's ping is answered", async () => {
    await using at = await lab("http://127.0.0.1:0", { processBytes: 4 * MIB });
    const answers: string[] = [];
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connectTcp({ host: "127.0.0.1", port: at.port });
      socket.on("data", (chunk) => answers.push(String(chunk)));
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${8 * MIB}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(MIB, " "));
      return socket;
    });
    await until(() => answers.length >= 4);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 (503|429) /);
    expect(answers[0]).toContain('"limit":"processBytes"');
    expect(heldBytes()).toBeGreaterThan(2 * MIB);
    expect(heldBytes()).toBeLessThanOrEqual(4 * MIB);
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } });
    const neighbour = await fetch(`http://127.0.0.1:${at.port}/mcp`, { method: "POST", headers, body });
    expect(neighbour.status).toBe(200);
    await neighbour.text();
    for (const socket of sockets) socket.destroy();
    await until(() => heldBytes() === 0);
  });
});

describe("compressed messages", () => {
  const bomb = gzipSync(call("x".repeat(3 * MIB)));

  it("are counted as they are unpacked, and pings are answered meanwhile", async () => {
    await using at = await lab("grpc://127.0.0.1:0", limits);
    const session = await wideSession(at.port);
    const held = watchHeld();
    const headers = { "grpc-encoding": "gzip" };
    const bombs = Array.from({ length: 30 }, () => unary(session, "CallTool", bomb, { headers, compressed: true }));
    expect((await unary(session, "Ping", Buffer.alloc(0))).status).toBe("0");
    const outcomes = await Promise.all(bombs);
    expect(outcomes.filter(({ status }) => status === "0").length).toBeGreaterThan(0);
    expect(outcomes.every(({ status }) => status === "0" || status === "8")).toBe(true);
    const over = await unary(session, "CallTool", gzipSync(call("x".repeat(5 * MIB))), { headers, compressed: true });
    expect(over).toMatchObject({ status: "8" });
    expect(held.most()).toBeLessThan(2 * limits.connectionBytes);
    session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("are refused where the listener accepts none", async () => {
    await using at = await lab("grpc://127.0.0.1:0", {}, { acceptGzip: false });
    const session = await wideSession(at.port);
    const stream = rpc(session, `${SERVICE}CallTool`, { "grpc-encoding": "gzip" });
    const accepted = new Promise((resolve) => stream.once("response", (found) => resolve(found["grpc-accept-encoding"])));
    stream.end(framed(bomb, { compressed: true }));
    expect((await outcome(stream)).status).toBe("12");
    expect(await accepted).toBe("identity");
    expect((await unary(session, "CallTool", call("plain"))).status).toBe("0");
    session.destroy();
    const connect = await fetch(`http://127.0.0.1:${at.port}${SERVICE}CallTool`, {
      method: "POST",
      headers: { "content-type": "application/proto", "content-encoding": "gzip", "connect-protocol-version": "1" },
      body: bomb,
    });
    expect(await connect.json()).toMatchObject({ code: "unimplemented" });
  });

  it("are not unpacked any further than there is room", async () => {
    let seen = 0;
    const full = new Fault("overload", "full");
    const grow = (bytes: number): Fault | undefined => {
      seen = bytes;
      return bytes > MIB ? full : undefined;
    };
    await expect(decompress("gzip", bomb, { limit: 4 * MIB, grow })).rejects.toBe(full);
    expect(seen).toBeLessThan(1.1 * MIB);
  });

  it("are unpacked one at a time if they are large, and at once if they are small", async () => {
    const order: string[] = [];
    const unpack = async (name: string, data: Uint8Array): Promise<void> => {
      const grow = (): undefined => void (order.at(-1) === name || order.push(name));
      await decompress("gzip", data, { limit: 4 * MIB, grow });
      order.push(`${name} done`);
    };
    const lying = gzipSync(Buffer.alloc(MIB));
    lying.writeUInt32LE(1000, lying.length - 4);
    const lies = unpack("lie", lying).catch(() => order.push("lie done"));
    await Promise.all([unpack("first", bomb), unpack("second", bomb), unpack("small", gzipSync("little")), lies]);
    expect(order).toEqual(["small", "small done", "lie", "lie done", "first", "first done", "second", "second done"]);
  });
});

it("bodies of the Fetch handler share what the process may hold", async () => {
  const handle = fetchHandler(createServer({ name: "bodies", version: "1" }), { limits: { processBytes: 4 * MIB, reserveBytes: 0 } });
  const bodies: ReadableStreamDefaultController[] = [];
  const answers: Response[] = [];
  for (let n = 0; n < 10; n++) {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(MIB));
        bodies.push(controller);
      },
    });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    // Node wants it for a body that streams; its types do not know it.
    const half = { duplex: "half" };
    const sent = new Request("http://localhost/mcp", { method: "POST", headers, body, ...half });
    void handle(sent).then((answer) => answers.push(answer));
  }
  await until(() => answers.length === 6);
  expect(heldBytes()).toBe(4 * MIB);
  for (const answer of answers) expect(await answer.text()).toContain("processBytes");
  for (const body of bodies) body.error(new Error("gone"));
  await until(() => heldBytes() === 0);
});
