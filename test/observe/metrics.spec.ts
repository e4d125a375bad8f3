import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, vi } from "vitest";
import {
  combineObservers,
  connect,
  createServer,
  Fault,
  type ObservedCall,
  type Observer,
  type Server,
  serve,
} from "../../src/api/index.js";
import { durationBounds, jsonLog, type Metrics, metrics } from "../../src/observe/index.js";
import { everything } from "../cli/support.js";

function sample(): Server {
  return createServer({ name: "sample", version: "1" })
    .tool("echo", {}, ({ text }) => String(text))
    .tool("sad", {}, () => ({ isError: true, content: [] }))
    .tool("leaky", {}, () => {
      throw new Fault("denied", "no use for password=hunter2", { data: { limit: "password=hunter2" } });
    });
}

/** The numbers of an exposition by series; fails on a line that Prometheus would not read. */
function series(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || /^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/.test(line)) continue;
    const [, name, value] = /^([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (-?[0-9.e+-]+)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a line of the text format: ${line}`);
    expect(found.has(name), name).toBe(false);
    found.set(name, Number(value));
  }
  return found;
}

async function official(address: string): Promise<Client> {
  const client = new Client({ name: "sdk", version: "0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)) as Parameters<Client["connect"]>[0]);
  return client;
}

function call(method: string, name?: string): ObservedCall {
  return { side: "listen", wire: "http", era: "modern", method, name };
}

function ended(watch: Observer, made: ObservedCall, milliseconds = 1, outcome: "ok" | "invalid-params" = "ok"): void {
  watch.call?.({ kind: "start", call: made });
  watch.call?.({ kind: "end", call: made, outcome, milliseconds });
}

describe("metrics()", () => {
  it("counts what the official client does", async () => {
    const watch = metrics({ tools: true });
    await using listener = await serve(sample(), "http://127.0.0.1:0", { observe: watch });
    const client = await official(listener.address);
    await client.callTool({ name: "echo", arguments: { text: "hi" } });
    await client.callTool({ name: "sad" });
    await expect(client.callTool({ name: "leaky" })).rejects.toThrow();
    await expect(client.callTool({ name: "nobody" })).rejects.toThrow();
    const at = (name: string): number | undefined => series(watch.text()).get(name);
    await vi.waitFor(() =>
      expect(at('anywire_calls_total{side="listen",wire="http",method="tools/call",outcome="invalid-params"}')).toBe(1),
    );
    expect(at('anywire_calls_total{side="listen",wire="http",method="tools/call",outcome="ok"}')).toBe(1);
    expect(at('anywire_calls_total{side="listen",wire="http",method="tools/call",outcome="tool_error"}')).toBe(1);
    expect(at('anywire_calls_total{side="listen",wire="http",method="tools/call",outcome="denied"}')).toBe(1);
    expect(at('anywire_tool_calls_total{tool="echo",outcome="ok"}')).toBe(1);
    // A client must not make series: the server has not answered to this name.
    expect(at('anywire_tool_calls_total{tool="other",outcome="invalid-params"}')).toBe(1);
    expect(at('mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call"}')).toBe(4);
    expect(at('mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",le="+Inf"}')).toBe(4);
    expect(at('anywire_sessions{wire="http"}')).toBe(1);
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    await client.close();
    await vi.waitFor(() => expect(at('anywire_sessions{wire="http"}')).toBe(0));
    await fetch(listener.address, { method: "POST", headers: { host: "x", origin: "https://evil.example" } });
    await vi.waitFor(() => expect(at('anywire_refusals_total{side="listen",wire="http",kind="refused",rule="denied"}')).toBe(1));
    await vi.waitFor(() => expect(at('anywire_calls_open{side="listen",wire="http"}')).toBe(0));
  });

  it("counts upstreams and their processes", async () => {
    const watch = metrics();
    const [, command = "", ...args] = everything;
    const client = await connect({ command, args }, { observe: watch });
    expect(series(watch.text()).get("anywire_children")).toBe(1);
    expect(series(watch.text()).get('anywire_upstreams{wire="stdio"}')).toBe(1);
    await client.close();
    await vi.waitFor(() => expect(series(watch.text()).get("anywire_children")).toBe(0));
    expect(series(watch.text()).get('anywire_upstreams{wire="stdio"}')).toBe(0);
    expect(series(watch.text()).get("anywire_children_total")).toBe(1);
  });

  it("has OpenTelemetry's buckets, cumulative", () => {
    const watch = metrics();
    for (const seconds of [0.005, 0.01, 0.011, 400]) ended(watch, call("tools/list"), seconds * 1000);
    const found = series(watch.text());
    const bucket = (le: string): number | undefined =>
      found.get(`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/list",le="${le}"}`);
    expect([bucket("0.01"), bucket("0.02"), bucket("300"), bucket("+Inf")]).toEqual([2, 3, 3, 4]);
    expect(durationBounds).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
  });

  it("stays small whatever names clients and servers choose", () => {
    const watch = metrics({ tools: 10 });
    const fault = new Fault("overload", "full");
    for (let n = 0; n < 10_000; n++) {
      ended(watch, call(`vendor/${n}`));
      ended(watch, call("tools/call", `tool-${n}`));
      ended(watch, call("tools/call", `guess-${n}`), 1, "invalid-params");
      watch.call?.({ kind: "question", call: call("tools/call"), method: `ask/${n}` });
      watch.refusal?.({ side: "listen", wire: "http", kind: "refused", rule: `limit-${n}`, fault });
    }
    expect(watch.text().split("\n").length).toBeLessThan(250);
    expect(series(watch.text()).get('anywire_tool_calls_total{tool="other",outcome="ok"}')).toBe(9990);
  });

  it("reads numbers of the program's own when it is read, and escapes labels", () => {
    const watch: Metrics = metrics();
    let state = "starting";
    watch.add({ type: "gauge", name: "up_state", help: "The state.", label: "state", read: () => ({ [state]: 1 }) });
    expect(watch.text()).toContain('up_state{state="starting"} 1');
    state = 'a"b\\c\nd';
    expect(series(watch.text()).get('up_state{state="a\\"b\\\\c\\nd"}')).toBe(1);
  });

  it("costs little", () => {
    const watch = combineObservers(metrics({ tools: true }), jsonLog({ write: () => {} }));
    const only = metrics();
    const per = (observer: Observer): number => {
      const made = call("tools/call", "echo");
      for (let n = 0; n < 20_000; n++) ended(observer, made);
      const began = performance.now();
      for (let n = 0; n < 100_000; n++) ended(observer, made);
      return (performance.now() - began) / 100;
    };
    const [alone, both] = [per(only), per(watch)];
    console.log(`a watched call: metrics ${alone.toFixed(2)} µs; with tool names and a JSON log ${both.toFixed(2)} µs`);
    // The limit only catches what is wrong by far, whatever else the machine does.
    expect(both).toBeLessThan(1000);
  });
});

describe("jsonLog()", () => {
  it("has a line for each call, session and refusal, and neither arguments, results nor secrets", async () => {
    const lines: string[] = [];
    const observe = jsonLog({ write: (line) => lines.push(line), now: () => new Date(0) });
    await using listener = await serve(sample(), "http://127.0.0.1:0", { observe });
    const client = await official(listener.address);
    await client.callTool({ name: "echo", arguments: { text: "opensesame" } });
    await expect(client.callTool({ name: "leaky", arguments: { password: "hunter2" } })).rejects.toThrow("hunter2");
    await client.readResource({ uri: "https://user:hunter2@host/x?token=hunter2" }).catch(() => {});
    await fetch(listener.address, { method: "POST", headers: { origin: "https://evil.example", authorization: "Bearer hunter2" } });
    await vi.waitFor(() => expect(lines.some((line) => line.includes('"refusal"'))).toBe(true));
    await client.close();
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.find(({ name }) => name === "echo")).toMatchObject({
      time: "1970-01-01T00:00:00.000Z",
      event: "call",
      side: "listen",
      wire: "http",
      era: "legacy",
      method: "tools/call",
      outcome: "ok",
    });
    expect(told.find(({ event }) => event === "session")).toMatchObject({ change: "open", client: "sdk 0" });
    expect(told.find(({ event }) => event === "refusal")).toMatchObject({ kind: "refused", rule: "denied" });
    expect(lines.join("\n")).not.toMatch(/hunter2|opensesame/);
  });

  it("keeps a line short, whatever a client calls things", () => {
    const lines: string[] = [];
    ended(jsonLog({ write: (line) => lines.push(line) }), call("x".repeat(1_000_000), "y".repeat(1_000_000)));
    expect(lines[0]?.length).toBeLessThan(1000);
  });
});
