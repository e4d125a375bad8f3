import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, type Era, type JsonObject, type LogEntry, type McpClient } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

interface Peer {
  readonly name: string;
  readonly script: string;
  readonly era: ConnectOptions["era"];
  /** What it turns out to speak. */
  readonly found: Era;
  readonly version: string;
}

const peers: readonly Peer[] = [
  { name: "SDK v1, found by probing", script: "v1-server.mjs", era: "auto", found: "legacy", version: "2025-11-25" },
  { name: "SDK v2, found by probing", script: "v2-server.mjs", era: "auto", found: "modern", version: "2026-07-28" },
  { name: "SDK v2, told to be legacy", script: "v2-server.mjs", era: "legacy", found: "legacy", version: "2025-11-25" },
];

const textOf = (result: JsonObject): string => (result["content"] as { text: string }[])[0]?.text as string;

for (const { name, script, era, found, version } of peers) {
  describe(name, () => {
    const path = fileURLToPath(new URL(`../fixtures/sdk/${script}`, import.meta.url));
    const logs: LogEntry[] = [];
    const faults: unknown[] = [];
    let client: McpClient;

    beforeAll(async () => {
      client = await connect(
        { command: process.execPath, args: [path] },
        {
          era,
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
        },
      );
    });
    afterAll(async () => {
      await client.close();
      await nobodyLeft();
      expect(faults).toEqual([]);
    });

    test("its era is found", () => {
      expect(client.server).toMatchObject({ era: found, version, info: { name: script.slice(0, 2) } });
      expect(client.server.instructions).toMatch(/^Be (old|new)\.$/);
    });

    test("tools, resources and prompts", async () => {
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("burst");
      expect(textOf(await client.callTool("echo", { message: "é🎈" }))).toBe("é🎈");
      expect((await client.callTool("echo", { message: 1 })).isError).toBe(true);
      expect((await client.readResource("test://live")).contents[0]?.text).toBe("live");
      expect(JSON.stringify((await client.getPrompt("greet", { who: "Ada" })).messages)).toContain("Hello, Ada!");
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

    test("elicitation and sampling", async () => {
      const [asked, sampled] = await Promise.all([client.callTool("ask"), client.callTool("sample")]);
      expect(JSON.parse(textOf(asked))).toEqual({ action: "accept", content: { name: "Ada" } });
      expect(JSON.parse(textOf(sampled))).toMatchObject({ content: { type: "text", text: "4" }, model: "m" });
    });

    if (script === "v1-server.mjs")
      test("a server that wants to know hears how its answer is coming on", async () => {
        expect(JSON.parse(textOf(await client.callTool("ask-slowly")))).toEqual({ action: "decline", told: [[1, "thinking"]] });
      });

    test("a cancelled call is cancelled there", async () => {
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

    test("list_changed and updates of a resource arrive", async () => {
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
      if (script === "v1-server.mjs")
        await vi.waitFor(async () => expect(JSON.parse(textOf(await client.callTool("report"))).subscribed).toEqual([]), patience);
    });

    test("log entries from the level that was asked for", async () => {
      const heard: unknown[] = [];
      await client.callTool("log", {}, { logLevel: "info", onLog: ({ data }) => heard.push(data) });
      expect(heard).toEqual(["loud"]);
    });

    test("an unknown tool, resource and method are errors", async () => {
      await expect(client.readResource("test://none")).rejects.toMatchObject({ name: "Fault" });
      await expect(client.call("com.example/none")).rejects.toMatchObject({ code: "unknown-method", rpcCode: -32601 });
    });
  });
}
