import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject, ListenOptions } from "../../src/core/index.js";
import { figure, patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { call, envelope, initialize, notification, opener, rawStdio, request } from "../fixtures/raw.js";

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const TARGET_MS = 250;
function inTime(what: string, since: number): void {
  figure(what, since);
  expect(performance.now() - since).toBeLessThan(TARGET_MS * 20);
}

describe("a client that says what is not a message", () => {
  const open = opener(rawStdio);

  test("is told so at once, and served on", async () => {
    const raw = open();
    await initialize(raw);
    raw.send(call("open", "wait", { key: "w" }));
    const bad: readonly (string | Uint8Array)[] = [
      "nonsense",
      "{",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ec',
      "\u0000\u0001\u0002",
      new Uint8Array([0xff, 0xfe, 0x80]),
      new Uint8Array([0x22, 0xc3, 0x28, 0x22]),
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      "x".repeat(1_000_000),
    ];
    for (const bytes of bad) {
      const since = performance.now();
      const told = await raw.during(() => {
        raw.write(bytes);
        raw.write("\n");
      });
      expect(told).toMatchObject([{ id: null, error: { code: expect.any(Number), message: expect.any(String) } }]);
      expect(performance.now() - since).toBeLessThan(TARGET_MS * 20);
    }
    await vi.waitFor(() => expect(raw.faults).toHaveLength(bad.length), patience);
    raw.send(call("after", "report"));
    expect(await raw.response("after")).toMatchObject({ result: { structuredContent: { started: ["w"], cancelled: [] } } });
  });

  test("a request that is nested 100,000 deep, or is no UTF-8, is answered under its own id", async () => {
    const raw = open();
    await initialize(raw);
    const depth = 100_000;
    const since = performance.now();
    raw.write(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"echo","arguments":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}}\n`,
    );
    raw.write(
      Buffer.from('{"jsonrpc":"2.0","id":"latin","method":"tools/call","params":{"name":"echo","arguments":{"a":"é"}}}\n', "latin1"),
    );
    expect(await raw.response("deep")).toMatchObject({ error: { data: { limit: "depth" } } });
    expect(await raw.response("latin")).toMatchObject({ error: { code: -32700 } });
    inTime("a request nested 100,000 deep, to its error", since);
  });

  test("lines in pieces of any size are lines", async () => {
    const raw = open();
    await initialize(raw);
    const bytes = Buffer.from(`${JSON.stringify(call(1, "echo", { text: "grüße 🎈" }))}\r\n\n  \n${JSON.stringify(call(2, "echo"))}\n`);
    for (const byte of bytes) {
      raw.write(new Uint8Array([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { text: "grüße 🎈" } } });
    expect(await raw.response(2)).toMatchObject({ result: {} });
  });

  test("a line over the limit fails its own call, and the client goes on", async () => {
    const messageBytes = 100_000;
    const raw = open({ limits: { messageBytes } });
    await initialize(raw);
    raw.send(call("open", "wait", { key: "w" }), call(1, "echo", { text: "x".repeat(messageBytes - 1000) }));
    expect(await raw.response(1)).toHaveProperty("result");
    const since = performance.now();
    raw.write(`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"text":"${"x".repeat(2 * messageBytes)}"}}\n`);
    expect(await raw.response(2)).toMatchObject({ error: { data: { limit: "messageBytes", max: messageBytes } } });
    inTime("a line over the limit, to its error", since);
    raw.send(call(3, "echo", { a: 1 }));
    expect(await raw.response(3)).toHaveProperty("result");
  });

  test("a half line at the end is none, and the calls before it are answered", async () => {
    const raw = open();
    await initialize(raw);
    raw.send(call(1, "echo", { a: 1 }));
    raw.write('{"jsonrpc":"2.0","id":2,"method":"ping"');
    await raw.close();
    expect(await raw.response(1)).toHaveProperty("result");
    expect(raw.heard.filter(({ id }) => id === 2)).toEqual([]);
  });
});

describe("a client with wrong types everywhere", () => {
  const open = opener(rawStdio);
  const junk: readonly unknown[] = [null, true, -1.5, "", "text", [], [null], {}, { a: {} }];
  const members: Readonly<Record<string, readonly string[]>> = {
    "tools/call": ["name", "arguments", "_meta", "inputResponses", "requestState"],
    "tools/list": ["cursor", "_meta"],
    "resources/list": ["cursor"],
    "resources/read": ["uri", "_meta"],
    "resources/subscribe": ["uri"],
    "resources/unsubscribe": ["uri"],
    "prompts/get": ["name", "arguments"],
    "completion/complete": ["ref", "argument", "context"],
    "logging/setLevel": ["level"],
    "subscriptions/listen": ["notifications"],
    "server/discover": ["_meta"],
    "com.example/echo": ["anything"],
    initialize: ["protocolVersion", "capabilities", "clientInfo"],
    ping: ["anything"],
  };
  const good: JsonObject = {
    name: "echo",
    uri: "test://text",
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "who", value: "a" },
    level: "info",
  };

  test.each(["legacy", "modern"])("every request is answered, and nothing breaks (%s)", async (era) => {
    const raw = open();
    if (era === "legacy") await initialize(raw);
    const meta = era === "modern" ? { _meta: envelope() } : {};
    const sent: string[] = [];
    const cancelled: string[] = [];
    const since = performance.now();
    for (const [method, names] of Object.entries(members))
      for (const name of names)
        for (const value of junk) {
          const id = `${method} ${name} ${JSON.stringify(value)}`;
          sent.push(id);
          raw.send(request(id, method, { ...good, ...meta, [name]: value }));
          // One that only listens is answered when it ends, and a cancelled one never.
          if (era === "modern" && method === "subscriptions/listen") cancelled.push(id);
        }
    for (const requestId of cancelled) raw.send(notification("notifications/cancelled", { requestId }));
    for (const id of sent) {
      if (cancelled.includes(id)) continue;
      const answer = await raw.response(id);
      expect("result" in answer || Number.isInteger((answer["error"] as JsonObject)?.["code"])).toBe(true);
    }
    figure(`${sent.length} requests with wrong types (${era})`, since);
    const errors = raw.heard.flatMap(({ error }) => (error === undefined ? [] : [(error as JsonObject)["code"]]));
    expect(errors.filter((code) => code === -32603)).toEqual([]);
    expect(raw.faults).toEqual([]);
  });
});

test("a client that says nothing else for 60,000 lines is served on", async () => {
  const child = spawn(process.execPath, [fixture("served.mjs")], { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout });
  const answered = new Promise((resolve) =>
    lines.on("line", (line) => {
      if (line.includes('"the last"')) resolve(JSON.parse(line));
    }),
  );
  child.stdin.write("nonsense\n".repeat(60_000));
  child.stdin.write(`${JSON.stringify(request("the last", "tools/call", { name: "echo", arguments: { at: 1 }, _meta: envelope() }))}\n`);
  expect(await answered).toMatchObject({ result: { structuredContent: { at: 1 } } });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await ended;
});

describe("a client that ends", () => {
  const open = opener(rawStdio);

  test.each(["stdin", "both"])("in the middle of its calls: the server ends too, and soon (%s closed)", async (what) => {
    const child = spawn(process.execPath, [fixture("served.mjs")], { stdio: ["pipe", "pipe", "pipe"] });
    const lines = createInterface({ input: child.stdout });
    const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
    const ready = new Promise((resolve) => lines.once("line", resolve));
    send(request(1, "tools/call", { name: "report", _meta: envelope() }));
    await ready;
    for (let id = 2; id < 50; id++) send(request(id, "tools/call", { name: "wait", arguments: { key: id }, _meta: envelope() }));
    send(request(50, "subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: envelope() }));
    await new Promise((resolve) => lines.once("line", resolve));
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    const since = performance.now();
    child.stdin.end();
    if (what === "both") child.stdout.destroy();
    expect(await ended).toEqual({ code: 0, signal: null });
    figure(`${what} closed with 50 calls open, to the end of the server`, since);
    expect(performance.now() - since).toBeLessThan((TARGET_MS + 250) * 20);
    child.stderr.destroy();
  });

  test("answers that are nearly there are still given", async () => {
    const raw = open();
    await initialize(raw);
    raw.send(...Array.from({ length: 100 }, (_, id) => call(id, "echo", { id })));
    await raw.close();
    for (let id = 0; id < 100; id++) expect(await raw.response(id)).toMatchObject({ result: { structuredContent: { id } } });
  });
});

/** Resident bytes of a process. */
function resident(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

describe("a client that does not keep up", () => {
  afterEach(nobodyLeft);
  const open = opener(rawStdio);

  test("more calls at a time than allowed are refused, each by its id, and the others are answered", async () => {
    const raw = open({ limits: { inFlight: 10 } });
    await initialize(raw);
    raw.send(...Array.from({ length: 30 }, (_, id) => call(id, "wait", { key: id })));
    for (let id = 10; id < 30; id++)
      expect(await raw.response(id)).toMatchObject({ error: { code: -32000, data: { limit: "inFlight", max: 10 } } });
    raw.send(notification("notifications/cancelled", { requestId: 3 }), call("next", "echo", { a: 1 }));
    expect(await raw.response("next")).toMatchObject({ result: { structuredContent: { a: 1 } } });
  });

  test.runIf(process.platform === "linux")("one that never reads costs bounded memory, and gets all its answers once it does", async () => {
    const options: ListenOptions = { limits: { backlogBytes: 1024 * 1024 } };
    const child = spawn(process.execPath, [fixture("wide.mjs"), JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] });
    const pid = child.pid as number;
    const wide = (id: number, bytes: number): void =>
      void child.stdin.write(`${JSON.stringify(call(id, "wide", { bytes }, envelope()))}\n`);
    let answers = 0;
    const reading = createInterface({ input: child.stdout }).on("line", (line) => {
      if ("result" in (JSON.parse(line) as JsonObject)) answers++;
    });
    wide(0, 1);
    await vi.waitFor(() => expect(answers).toBe(1), patience);
    reading.pause();
    const before = resident(pid);
    const [count, bytes] = [1_000, 100_000];
    let peak = before;
    for (let id = 1; id <= count; id++) {
      wide(id, bytes);
      if (id % 10 > 0) continue;
      await new Promise((resolve) => setTimeout(resolve, 1));
      peak = Math.max(peak, resident(pid));
    }
    // It has come to rest when it takes no more memory.
    for (let calm = 0; calm < 10; ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const now = resident(pid);
      calm = now > peak ? 0 : calm + 1;
      peak = Math.max(peak, now);
    }
    console.log(`${count} answers of ${bytes / 1000} kB that nobody reads: ${((peak - before) / 2 ** 20).toFixed(0)} MiB`);
    expect(peak - before).toBeLessThan(0.6 * count * bytes);
    reading.resume();
    await vi.waitFor(() => expect(answers).toBe(1 + count), patience);
    child.stdin.end();
    await new Promise((resolve) => child.once("exit", resolve));
  });
});
