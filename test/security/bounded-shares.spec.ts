import { describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { field, framed, rpc, wideSession } from "../../bench/hostile/http2.js";
import { heldBytes } from "../../src/core/index.js";
import { lab, MIB, outcome, request, SERVICE, sendAll, socketOf, unary, until } from "./bounded.js";

const call = (text: string): Buffer => Buffer.concat([field(1, "length"), field(102, JSON.stringify({ text }))]);
const tool = (id: number, name: string, args: object = {}): string => request(id, "tools/call", { name, arguments: args });

interface Answer {
  readonly id: number;
  readonly result?: object;
  readonly error?: { readonly data: { readonly limit: string; readonly max: number } };
}

function hear(socket: WebSocket): Answer[] {
  const answers: Answer[] = [];
  socket.on("message", (data) => answers.push(JSON.parse(String(data)) as Answer));
  return answers;
}

describe("the share of a connection", () => {
  const limits = { connectionBytes: 4 * MIB };

  it("is used up by results that are not read: the rest is refused", async () => {
    await using at = await lab("ws://127.0.0.1:0", { ...limits, backlogBytes: 64 * MIB });
    const socket = await socketOf(at.port);
    const answers = hear(socket);
    socket.pause();
    sendAll(
      socket,
      Array.from({ length: 60 }, (_, id) => tool(id, "make", { size: MIB })),
    );
    await until(() => heldBytes() > 2 * MIB);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heldBytes()).toBeLessThan(2 * limits.connectionBytes);
    socket.resume();
    await until(() => answers.length === 60);
    const refused = answers.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(30);
    expect(refused[0]?.error?.data).toEqual({ limit: "connectionBytes", max: limits.connectionBytes });
    socket.close();
    await until(() => heldBytes() === 0);
  });

  it("is used up by the params of calls that go on: the rest is refused", async () => {
    await using at = await lab("grpc://127.0.0.1:0", limits);
    const session = await wideSession(at.port);
    const refused: unknown[] = [];
    const waits = Buffer.concat([field(1, "wait"), field(102, JSON.stringify({ text: "x".repeat(MIB) }))]);
    for (let n = 0; n < 10; n++) {
      void unary(session, "CallTool", waits).then((how) => refused.push(how));
      // One after the other, so that it is not the messages that have no room.
      await until(() => heldBytes() > Math.min(n + 1, 3) * MIB);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until(() => refused.length >= 7);
    for (const how of refused)
      expect(how).toMatchObject({
        status: "8",
        message: `the server holds too much data for this connection: the limit is ${4 * MIB} bytes`,
      });
    expect(heldBytes()).toBeGreaterThan(3 * MIB);
    session.destroy();
    await until(() => heldBytes() === 0);
  });
});

describe("the share of a caller", () => {
  it("is the same on all of its connections", async () => {
    const principalBytes = 2 * MIB;
    await using at = await lab("http://127.0.0.1:0", { principalBytes }, { auth: { verify: (token) => ({ id: token }) } });
    const gone = new AbortController();
    const answers: Answer[] = [];
    const post = (token: string, name: string, args: object): Promise<void> =>
      fetch(`http://127.0.0.1:${at.port}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": name,
        },
        body: tool(1, name, args),
        signal: gone.signal,
      })
        .then(async (answer) => void answers.push((await answer.json()) as Answer))
        .catch(() => {});
    for (let at = 0; at < 5; at++) void post("one", "wait", { text: "x".repeat(0.9 * MIB) });
    await until(() => answers.length === 3);
    for (const { error } of answers) expect(error?.data).toEqual({ limit: "principalBytes", max: principalBytes });
    await post("two", "length", { text: "x".repeat(0.9 * MIB) });
    expect(answers.at(-1)).toMatchObject({ result: { content: [{ text: String(Math.floor(0.9 * MIB)) }] } });
    gone.abort();
    await until(() => heldBytes() === 0);
  });
});

describe("the reserve", () => {
  it("lets small calls in while the process holds more than it may, some of each connection", async () => {
    await using at = await lab("ws://127.0.0.1:0", { processBytes: MIB });
    const attacker = await socketOf(at.port);
    attacker.pause();
    sendAll(
      attacker,
      Array.from({ length: 3000 }, (_, id) => tool(id, "make", { size: 10_000 })),
    );
    await until(() => heldBytes() > MIB);
    const neighbour = await socketOf(at.port);
    const answers = hear(neighbour);
    for (let id = 0; id < 20; id++) {
      neighbour.send(tool(id, "echo", { text: "hello" }));
      await until(() => answers.length === id + 1);
      expect(answers[id]).toMatchObject({ id, result: { content: [{ text: "hello" }] } });
    }
    for (let id = 100; id < 140; id++) neighbour.send(tool(id, "wait"));
    await until(() => answers.length >= 20 + 26);
    for (const { error } of answers.slice(20)) expect(error?.data).toEqual({ limit: "processBytes", max: MIB });
    expect(answers.length).toBeLessThan(20 + 30);
    expect(heldBytes()).toBeGreaterThan(MIB);
    attacker.terminate();
    neighbour.close();
    await until(() => heldBytes() === 0);
  });
});

describe("the share of the process", () => {
  it("used up by some, leaves small calls to others and refuses them large ones", async () => {
    await using at = await lab("grpc://127.0.0.1:0", { processBytes: MIB });
    const attackers = await Promise.all(Array.from({ length: 4 }, () => wideSession(at.port)));
    const refused: unknown[] = [];
    for (const session of attackers)
      for (let n = 0; n < 40; n++) {
        const stream = rpc(session, `${SERVICE}CallTool`);
        stream.write(framed(Buffer.alloc(15_000), { declared: 8 * MIB }));
        void outcome(stream).then((how) => refused.push(how));
      }
    // 2.4 MB in pieces that are small: what is beyond the share is out of the reserve, and little for each.
    await until(() => refused.length > 60);
    expect(refused[0]).toMatchObject({ status: "8", message: expect.stringContaining("all callers together") });
    expect(heldBytes()).toBeGreaterThan(MIB - 20_000);
    expect(heldBytes()).toBeLessThan(MIB + 4 * 64 * 1024);
    const neighbour = await wideSession(at.port);
    for (let n = 0; n < 20; n++) {
      expect((await unary(neighbour, "Ping", Buffer.alloc(0))).status).toBe("0");
      expect((await unary(neighbour, "CallTool", call("small"))).status).toBe("0");
    }
    expect(await unary(neighbour, "ReadResource", field(1, "b:100000"))).toMatchObject({ status: "8", limit: "processBytes" });
    expect(await unary(neighbour, "CallTool", call("x".repeat(100_000)))).toMatchObject({
      status: "8",
      message: expect.stringContaining("all callers together"),
    });
    for (const session of attackers) session.destroy();
    await until(() => heldBytes() === 0);
    expect((await unary(neighbour, "ReadResource", field(1, "b:100000"))).status).toBe("0");
    neighbour.destroy();
  });
});
