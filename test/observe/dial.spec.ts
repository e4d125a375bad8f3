import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { combineObservers, connect, createServer, type Fault, type JsonObject, type Observer, serve } from "../../src/api/index.js";
import { Caller } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf, outcome } from "../calls.js";
import { fixture, lines, scratch } from "../cli/support.js";
import { raw } from "../era/raw.js";
import { recorder } from "./recorder.js";

describe.each(["legacy", "modern"] as const)("a connection to a raw %s server on stdio", (era) => {
  it("is watched: the child, the upstream, frames and calls", async () => {
    const observe = recorder();
    const record = join(scratch(), "record");
    const command = { command: process.execPath, args: [fixture("raw-server.mjs"), record, era] };
    const client = await connect(command, { era, observe });
    await client.callTool("echo", { text: "hi" });
    const opening = era === "legacy" ? "initialize" : "server/discover";
    expect(observe.calls).toEqual([`start ${opening}`, `end ${opening} ok`, "start tools/call echo", "end tools/call ok"]);
    for (const { call } of observe.told.call) expect(call).toMatchObject({ side: "dial", wire: "stdio", era });
    await client.close();

    const crossed = lines(readFileSync(record, "utf8"));
    const of = (mark: string): string[] => crossed.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
    expect(observe.texts("sent")).toEqual(of("> "));
    expect(observe.texts("received")).toEqual(of("< "));
    expect(observe.told.upstream).toEqual([
      { side: "dial", wire: "stdio", kind: "start" },
      {
        side: "dial",
        wire: "stdio",
        kind: "ready",
        era,
        protocolVersion: era === "legacy" ? "2025-11-25" : "2026-07-28",
        milliseconds: expect.any(Number),
      },
      { side: "dial", wire: "stdio", kind: "exit" },
    ]);
    const { pid } = observe.told.child[0] ?? { pid: 0 };
    expect(pid).toBeGreaterThan(0);
    expect(observe.told.child).toEqual([
      { kind: "start", pid, command: process.execPath },
      { kind: "exit", pid, command: process.execPath, code: 0, signal: null },
    ]);
  });
});

it("a child that dies says so, and the call that it took with it ends", async () => {
  const observe = recorder();
  const info = '{ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }';
  const source = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result: ${info} }));
    if (method === "tools/call") process.exit(7);
  })`;
  await using client = await connect({ command: process.execPath, args: ["-e", source] }, { era: "legacy", observe });
  await expect(client.callTool("x")).rejects.toMatchObject({ code: "unavailable" });
  expect(observe.calls.at(-1)).toBe("end tools/call unavailable");
  await vi.waitFor(() => expect(observe.told.upstream.at(-1)).toMatchObject({ kind: "exit", reason: { code: "unavailable" } }));
  expect(observe.told.child.at(-1)).toMatchObject({ kind: "exit", code: 7, signal: null });
});

/** A legacy server in the hands of the test, dialed. */
async function dialed(observe: Observer, onFault?: (fault: Fault) => void) {
  const [mine, theirs] = linkPair();
  const server = raw(theirs);
  const dialing = dialLink(mine, { era: "legacy", observe, onFault });
  const { id } = (await server.find((message) => message.kind === "request")) as { id: number };
  const result: JsonObject = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "raw", version: "0" } };
  await server.send({ jsonrpc: "2.0", id, result });
  return { server, connection: await dialing };
}

describe("a raw server on a link", () => {
  it("asks, reports progress and fails: all of it is told", async () => {
    const observe = recorder();
    const { server, connection } = await dialed(observe);
    const context = contextOf({ progress: true, client: { era: "legacy", capabilities: { elicitation: {} } } });
    const failed = outcome(connection, "tools/call", { name: "t" }, context, ({ ask }) => ask.answer({ action: "decline" })).catch(
      ({ code }) => code,
    );
    const { id } = (await server.find((message) => message.kind === "request" && message.method === "tools/call")) as { id: number };
    await server.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } });
    await server.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "who?" } });
    await server.answer("q");
    await server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "no" } });
    expect(await failed).toBe("invalid-params");
    expect(observe.calls.slice(2)).toEqual([
      "start tools/call t",
      "progress tools/call",
      "question tools/call elicitation/create",
      "end tools/call invalid-params",
    ]);
    await connection.close();
  });

  it("says what is nobody's, or could be anybody's: that is dropped or refused, and told", async () => {
    const observe = recorder();
    const { server, connection } = await dialed(observe);
    const calls = ["one", "two"].map((name) =>
      outcome(connection, "tools/call", { name }, contextOf({ client: { identity: new Caller() } })).catch(({ code }) => code),
    );
    await server.find((message) => message.kind === "request" && message.params["name"] === "two");
    await server.send({ jsonrpc: "2.0", id: 77, result: {} });
    await server.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
    await server.send({ jsonrpc: "2.0", id: "q", method: "roots/list" });
    const { error } = (await server.answer("q")) as { error?: { code: number } };
    expect(error).toBeDefined();
    expect(observe.told.refusal.map(({ kind, rule, method }) => `${kind} ${rule} ${method}`)).toEqual([
      "dropped invalid-request undefined",
      "dropped unavailable notifications/message",
      expect.stringMatching(/^refused \S+ roots\/list$/),
    ]);
    await connection.close();
    expect(await Promise.all(calls)).toEqual(["unavailable", "unavailable"]);
  });

  it("is left: the call ends as cancelled", async () => {
    const observe = recorder();
    const { server, connection } = await dialed(observe);
    const replies = connection.call({ method: "tools/call", params: { name: "t" } }, contextOf());
    const next = replies.next();
    await server.find((message) => message.kind === "request" && message.method === "tools/call");
    await replies.return();
    await next;
    expect(observe.calls.slice(2)).toEqual(["start tools/call t", "end tools/call cancelled"]);
    await connection.close();
  });
});

describe("an observer", () => {
  it("that throws disturbs neither the call nor another observer nor the process, and is reported once", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    try {
      const boom = (): never => {
        throw new Error("boom");
      };
      const bad: Observer = { call: boom, frame: boom, session: boom, upstream: boom, child: boom, refusal: boom };
      const observe = recorder();
      const both = combineObservers(bad, observe);
      const server = createServer({ name: "s", version: "1" }).tool("echo", {}, ({ text }) => String(text));
      await using _listener = await serve(server, "memory:throwing", { observe: both });
      await using client = await connect("memory:throwing", { era: "legacy", observe: both });
      expect((await client.callTool("echo", { text: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
      const sides = (kind: "call" | "frame"): Set<unknown> =>
        new Set(observe.told[kind].map((event) => ("call" in event ? event.call.side : event.side)));
      expect(sides("call")).toEqual(new Set(["listen", "dial"]));
      expect(sides("frame")).toEqual(new Set(["listen", "dial"]));
      await vi.waitFor(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({
        name: "AnywireWarning",
        message: expect.stringContaining("an observer threw"),
        detail: expect.stringContaining("boom"),
      });
    } finally {
      process.off("warning", warned);
    }
  });

  it("that throws does not end a process that handles no uncaught exceptions", async () => {
    const program = `
      import { createServer, serve } from ${JSON.stringify(new URL("../../dist/api/index.js", import.meta.url).href)};
      const observe = { call() { throw new Error("boom"); }, frame() { throw new Error("bang"); } };
      const listener = await serve(createServer({ name: "s", version: "1" }).tool("t", {}, () => "t"), "http://127.0.0.1:0", { observe });
      const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
      for (let id = 0; id < 3; id++) {
        const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta } });
        console.log((await fetch(listener.address, { method: "POST", headers, body })).status);
      }
      await listener.close();
      console.log("closed");`;
    const run = promisify(execFile);
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout).toBe("200\n200\n200\nclosed\n");
    expect(stderr.match(/AnywireWarning/g)).toHaveLength(1);
  });

  it("combined of none has no methods, so that nothing is made for it", () => {
    expect(combineObservers()).toEqual({});
    expect(combineObservers({ frame: () => {} }, {})).toEqual({ frame: expect.any(Function) });
  });
});
