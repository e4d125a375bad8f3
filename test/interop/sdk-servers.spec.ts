import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, type Era, type JsonObject, type LogEntry, type McpClient } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { childServer } from "./child-server.js";

/** How the server is reached: as a child on stdio, or over HTTP in one of the ways that the SDK has. */
type Wire = "stdio" | "http, stateful" | "http, stateless" | "sse";

interface Peer {
  readonly name: string;
  readonly sdk: "v1" | "v2";
  readonly wire: Wire;
  readonly era: ConnectOptions["era"];
  /** What it turns out to speak. */
  readonly found: Era;
}

const peers: readonly Peer[] = [
  ...(["stdio", "http, stateful", "http, stateless", "sse"] as const).map(
    (wire): Peer => ({ name: `SDK v1, ${wire}, found by probing`, sdk: "v1", wire, era: "auto", found: "legacy" }),
  ),
  ...(["stdio", "http, stateful", "http, stateless"] as const).flatMap((wire): Peer[] => [
    { name: `SDK v2, ${wire}, found by probing`, sdk: "v2", wire, era: "auto", found: "modern" },
    { name: `SDK v2, ${wire}, told to be legacy`, sdk: "v2", wire, era: "legacy", found: "legacy" },
  ]),
];

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function open({ sdk, wire, era }: Peer, options: ConnectOptions): Promise<McpClient> {
  if (wire === "stdio")
    return connect({ command: process.execPath, args: [file(`../fixtures/sdk/${sdk}-server.mjs`)] }, { ...options, era });
  const server = await childServer([file("./fixtures/http-server.mjs"), sdk, wire.replace("http, ", "")]);
  const address = wire === "sse" ? `sse+http://127.0.0.1:${server.port}/sse` : `http://127.0.0.1:${server.port}/mcp`;
  const client = await connect(address, { ...options, era });
  void client.closed.then(() => server[Symbol.asyncDispose]());
  return client;
}

const textOf = (result: JsonObject): string => (result["content"] as { text: string }[])[0]?.text as string;

for (const peer of peers) {
  const { name, sdk, wire, found } = peer;
  // Where each legacy request meets a server of its own, nothing can be asked, cancelled or told of outside its answer.
  const whole = found === "modern" || wire !== "http, stateless";
  const whileWhole = (what: string, run: () => Promise<void>): void => (whole ? test(what, run) : undefined);
  describe(name, () => {
    const logs: LogEntry[] = [];
    const faults: unknown[] = [];
    let client: McpClient;

    beforeAll(async () => {
      client = await open(peer, {
        elicit: async ({ message }, { progress }) => {
          if (message === "Who?") return { action: "accept", content: { name: "Ada" } };
          progress(1, 2, "thinking");
          // The SDK drops what it reads together with the answer.
          await new Promise((resolve) => setTimeout(resolve, 50));
          return { action: "decline" };
        },
        sample: ({ maxTokens }) => ({ role: "assistant", content: { type: "text", text: `${maxTokens - 1}` }, model: "m" }),
        onLog: (entry) => logs.push(entry),
        onFault: (fault) => faults.push(fault),
        roots: [{ uri: "file:///r", name: "r" }],
      });
    });
    afterAll(async () => {
      await client.close();
      await nobodyLeft();
      expect(faults).toEqual([]);
    });

    test("its era is found", () => {
      const version = found === "modern" ? "2026-07-28" : "2025-11-25";
      expect(client.server).toMatchObject({ era: found, version, info: { name: sdk } });
      expect(client.server.instructions).toMatch(/^Be (old|new)\.$/);
    });

    test("tools, resources, prompts and completion", async () => {
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("burst");
      expect(textOf(await client.callTool("echo", { message: "é🎈" }))).toBe("é🎈");
      expect((await client.callTool("echo", { message: 1 })).isError).toBe(true);
      expect((await client.readResource("test://live")).contents[0]?.text).toBe("live");
      expect(JSON.stringify((await client.getPrompt("greet", { who: "Ada" })).messages)).toContain("Hello, Ada!");
      const completed = await client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "A" });
      expect(completed.completion.values).toEqual(["Ada", "Alan"]);
    });

    test("a burst of 20 progress arrives whole, in order, before the result, 20 times at once", async () => {
      const runs = Array.from({ length: 20 }, async () => {
        const seen: unknown[] = [];
        for await (const event of client.streamTool("burst")) seen.push(event.kind === "progress" ? event.progress.progress : event.kind);
        return seen;
      });
      const whole = [...Array.from({ length: 20 }, (_, at) => at + 1), "result"];
      for (const seen of await Promise.all(runs)) expect(seen).toEqual(whole);
      console.log(`${name}: 20 x 20 of progress in order`);
    });

    whileWhole("elicitation, sampling and roots", async () => {
      const [asked, sampled, rooted] = await Promise.all([client.callTool("ask"), client.callTool("sample"), client.callTool("roots")]);
      expect(JSON.parse(textOf(rooted))).toMatchObject({ roots: [{ uri: "file:///r" }] });
      expect(JSON.parse(textOf(asked))).toEqual({ action: "accept", content: { name: "Ada" } });
      expect(JSON.parse(textOf(sampled))).toMatchObject({ content: { type: "text", text: "4" }, model: "m" });
    });

    if (sdk === "v1")
      whileWhole("a server that wants to know hears how its answer is coming on", async () => {
        expect(JSON.parse(textOf(await client.callTool("ask-slowly")))).toEqual({ action: "decline", told: [[1, "thinking"]] });
      });

    whileWhole("a cancelled call is cancelled there", async () => {
      const abort = new AbortController();
      const call = client.callTool("wait", {}, { signal: abort.signal });
      const stream = client.streamTool("wait");
      const next = stream.next();
      await client.callTool("echo", { message: "behind them" });
      abort.abort();
      await expect(call).rejects.toMatchObject({ code: "cancelled" });
      await stream.return();
      expect((await next).done).toBe(true);
      const cancelled = async (): Promise<number> => JSON.parse(textOf(await client.callTool("report"))).cancelled;
      await vi.waitFor(async () => expect(await cancelled()).toBe(2), patience);
    });

    whileWhole("list_changed and updates of a resource arrive", async () => {
      const listen = client.listen({ toolsListChanged: true, resourceSubscriptions: ["test://live"] });
      expect((await listen.next()).value).toMatchObject({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["test://live"] } },
      });
      const grown = listen.next();
      await client.callTool("grow");
      expect((await grown).value).toMatchObject({ method: "notifications/tools/list_changed" });
      expect(textOf(await client.callTool("grown"))).toBe("grown");
      const touched = listen.next();
      await client.callTool("touch");
      expect((await touched).value).toMatchObject({ method: "notifications/resources/updated", params: { uri: "test://live" } });
      await listen.return();
      if (sdk === "v1")
        await vi.waitFor(async () => expect(JSON.parse(textOf(await client.callTool("report"))).subscribed).toEqual([]), patience);
    });

    whileWhole("log entries from the level that was asked for", async () => {
      const heard: unknown[] = [];
      await client.callTool("log", {}, { logLevel: "info", onLog: ({ data }) => heard.push(data) });
      // Over HTTP version 1 sends an entry beside its call, on the stream of no call, where it may be late.
      await vi.waitFor(() => expect([...heard, ...logs.map(({ data }) => data)]).toEqual(["loud"]), patience);
    });

    test("an unknown tool, resource and method are errors", async () => {
      await expect(client.readResource("test://none")).rejects.toMatchObject({ name: "Fault" });
      await expect(client.call("com.example/none")).rejects.toMatchObject({ code: "unknown-method", rpcCode: -32601 });
    });
  });
}
