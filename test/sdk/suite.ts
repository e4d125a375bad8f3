import { afterAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/api/index.js";
import { isObject } from "../../src/core/index.js";
import type { LabClient, LabClientOptions } from "./clients.js";
import { clientInfo } from "./clients.js";

/** How a client of the lab is opened, and what its peer can do. */
export interface Lab {
  open(options?: LabClientOptions): Promise<LabClient>;
  /** Whether one client serves most of the tests, because opening one is slow. */
  readonly shares?: boolean;
  /** Whether the server's own handlers can end the connection. */
  readonly quits: boolean;
  /** Whether the server has handlers that ask in the middle of a call. */
  readonly pushes: boolean;
  /** Whether the client is modern: it is handed a question with a result, and there is no taking it back. */
  readonly modern: boolean;
}

/** Waits for what a busy machine may take long to do. */
export const poll = <T>(value: () => T) => expect.poll(value, { timeout: 20_000, interval: 5 });

type Use = (client: LabClient) => Promise<void>;

/** What must be true of every client and server, whoever made them. */
export function labSuite(name: string, lab: Lab): void {
  let shared: Promise<LabClient> | undefined;
  const using = (what: string, use: Use, options?: LabClientOptions): void => {
    it(what, async () => {
      if (lab.shares === true && options === undefined) {
        shared ??= lab.open();
        return use(await shared);
      }
      const client = await lab.open(options);
      try {
        await use(client);
      } finally {
        await client.close();
      }
    });
  };

  describe(name, () => {
    afterAll(async () => (await shared)?.close());

    using("lists and calls tools", async (client) => {
      const { tools } = (await client.request("tools/list")) as { tools: JsonObject[] };
      expect(tools.find((tool) => tool["name"] === "echo")).toMatchObject({ inputSchema: { type: "object" } });
      const args = { text: "grüße 🎈", none: null, no: false, zero: 0, empty: [], deep: { a: [{}, [1.5]] } };
      const result = await client.tool("echo", args);
      expect(result["structuredContent"]).toEqual(args);
      expect(result["_meta"]).toMatchObject({ "com.example/m": [null, false, {}] });
      expect(await client.tool("boom")).toMatchObject({ isError: true, content: [{ type: "text", text: "it broke" }] });
    });

    for (const tool of ["count", "burst"]) {
      using(`gets every progress of ${tool}, in order and before the result`, async (client) => {
        for (let round = 0; round < 5; round++) {
          const seen: unknown[] = [];
          await client.tool(tool, { n: 20 }, { onProgress: (progress) => seen.push(progress["progress"]) });
          expect(seen).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
        }
        expect(client.errors).toEqual([]);
      });
    }

    using("gets progress of calls that run together, each its own", async (client) => {
      await Promise.all(
        Array.from({ length: 20 }, async (_, which) => {
          const seen: unknown[] = [];
          await client.tool("count", { n: which + 1 }, { onProgress: ({ progress, total }) => seen.push([progress, total]) });
          expect(seen).toEqual(Array.from({ length: which + 1 }, (_, at) => [at + 1, which + 1]));
        }),
      );
    });

    using("gets the logs of its level", async (client) => {
      const seen: unknown[] = [];
      client.onNotification((method, { level, data }) => method === "notifications/message" && seen.push([level, data]));
      await client.setLevel("warning");
      await client.tool("logs");
      await poll(() => seen).toEqual([["warning", { loud: true }]]);
      await client.setLevel("debug");
      await client.tool("logs");
      await expect
        .poll(() => seen.slice(1))
        .toEqual([
          ["debug", "quiet"],
          ["warning", { loud: true }],
        ]);
    });

    using("is asked for a form, a model and roots", async (client) => {
      const form = await client.tool("ask-form");
      expect(form["structuredContent"]).toEqual({ action: "accept", content: { name: "Ada" } });
      expect(client.asked.at(-1)).toMatchObject({ message: "Who?", requestedSchema: { properties: { name: { type: "string" } } } });
      expect((await client.tool("ask-model"))["structuredContent"]).toMatchObject({ model: "m", role: "assistant" });
      expect((await client.tool("ask-roots"))["structuredContent"]).toEqual({ roots: [{ uri: "file:///r", name: "r" }] });
    });

    using("is asked in calls that run together", async (client) => {
      const before = client.asked.length;
      const results = await Promise.all(Array.from({ length: 10 }, () => client.tool("ask-form")));
      for (const result of results) expect(result["structuredContent"]).toEqual({ action: "accept", content: { name: "Ada" } });
      expect(client.asked.length - before).toBe(10);
    });

    if (lab.pushes)
      using("is asked in the middle of a call", async (client) => {
        expect(await client.tool("push-form")).toMatchObject({ structuredContent: { action: "accept", content: { name: "Ada" } } });
      });

    if (lab.pushes && !lab.modern)
      it("hears that a question is withdrawn", async () => {
        let asked: AbortSignal | undefined;
        const client = await lab.open({ elicit: (signal) => unanswered((asked = signal)) });
        const call = expect(client.tool("ask-briefly")).rejects.toThrow();
        await poll(() => asked?.aborted).toBe(true);
        await client.close();
        await call;
      });

    using(
      "is not asked what it did not declare",
      async (client) => {
        const outcome = await client.tool("ask-form").catch((error: Error) => ({ isError: true, error }));
        expect(outcome).toMatchObject({ isError: true });
        expect((await client.tool("echo", { after: 1 }))["structuredContent"]).toEqual({ after: 1 });
      },
      { capable: false },
    );

    using("lists, reads and follows resources", async (client) => {
      const { resources } = (await client.request("resources/list")) as { resources: JsonObject[] };
      expect(resources).toMatchObject([{ uri: "lab://text", name: "text", mimeType: "text/plain" }]);
      const { resourceTemplates } = (await client.request("resources/templates/list")) as { resourceTemplates: JsonObject[] };
      expect(resourceTemplates).toMatchObject([{ uriTemplate: "lab://item/{name}" }]);
      const whole = await client.request("resources/read", { uri: "lab://text" });
      expect(whole["contents"]).toEqual([
        { uri: "lab://text", text: "grüße, 世界 🎈", mimeType: "text/plain" },
        { uri: "lab://text#2", blob: "AAECAw==", mimeType: "x/y" },
      ]);
      expect(await client.request("resources/read", { uri: "lab://item/7" })).toMatchObject({ contents: [{ text: "item 7" }] });
      const seen: unknown[] = [];
      client.onNotification((method, { uri }) => method === "notifications/resources/updated" && seen.push(uri));
      await client.subscribe({ uri: "lab://text" });
      await client.tool("touch", { uri: "lab://text" });
      await poll(() => seen).toEqual(["lab://text"]);
      await client.tool("touch", { uri: "lab://text", related: true });
      await poll(() => seen).toHaveLength(2);
    });

    using("gets prompts and completions", async (client) => {
      const { prompts } = (await client.request("prompts/list")) as { prompts: JsonObject[] };
      expect(prompts).toMatchObject([{ name: "greet", arguments: [{ name: "who", required: true }] }]);
      expect(await client.request("prompts/get", { name: "greet", arguments: { who: "Ada" } })).toMatchObject({
        messages: [{ role: "user", content: { type: "text", text: "Hello, Ada!" } }],
      });
      const complete = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "a" } };
      expect(await client.request("completion/complete", complete)).toMatchObject({ completion: { values: ["ada", "alan"] } });
    });

    using("hears that a list changed", async (client) => {
      const seen: string[] = [];
      client.onNotification((method) => seen.push(method));
      await client.subscribe({ tools: true });
      await client.tool("grow");
      await poll(() => seen).toContain("notifications/tools/list_changed");
      const { tools } = (await client.request("tools/list")) as { tools: JsonObject[] };
      expect(tools.map((tool) => tool["name"])).toContain("grown");
    });

    using("cancels: the handler hears of it, the caller is free", async (client) => {
      const abort = new AbortController();
      const call = client.tool("wait", { key: "k" }, { signal: abort.signal });
      const outcome = expect(call).rejects.toThrow();
      await poll(async () => (await report(client))["started"]).toEqual(["k"]);
      abort.abort(new Error("enough"));
      await outcome;
      await poll(async () => (await report(client))["cancelled"]).toEqual(["k"]);
    });

    it("gives up a call that asks: the question is withdrawn", async () => {
      let asked: AbortSignal | undefined;
      const client = await lab.open({ elicit: (signal) => unanswered((asked = signal)) });
      const abort = new AbortController();
      const outcome = expect(client.tool("ask-form", {}, { signal: abort.signal })).rejects.toThrow();
      await poll(() => asked).toBeDefined();
      abort.abort(new Error("enough"));
      await outcome;
      await poll(() => asked?.aborted).toBe(true);
      expect((await client.tool("echo", { after: 1 }))["structuredContent"]).toEqual({ after: 1 });
      await client.close();
    });

    using("gets errors with their code and data", async (client) => {
      const data = { why: [null, { deep: false }] };
      const error = (await client.request("lab/fail", { code: 4321, data }).catch((reason: unknown) => reason)) as JsonObject & Error;
      expect(error.message).toContain("as told");
      expect([error["rpcCode"] ?? error["code"], error["data"]]).toEqual([4321, data]);
      const missing = (await client.request("lab/nothing").catch((reason: unknown) => reason)) as JsonObject;
      expect(missing["rpcCode"] ?? missing["code"]).toBe(-32601);
    });

    using("tells who it is", async (client) => {
      expect((await client.tool("whoami"))["structuredContent"]).toMatchObject({ client: clientInfo });
    });

    if (!lab.modern)
      using("tells that its roots changed", async (client) => {
        await client.rootsChanged();
        await poll(async () => (await report(client))["notified"]).toEqual(["notifications/roots/list_changed"]);
      });

    using("makes 200 calls at a time", async (client) => {
      const results = await Promise.all(Array.from({ length: 200 }, (_, at) => client.tool("echo", { at })));
      expect(results.map((result) => (result["structuredContent"] as JsonObject)["at"])).toEqual(
        Array.from({ length: 200 }, (_, at) => at),
      );
    });

    it("closes: every open call ends, and the client hears of it", async () => {
      const client = await lab.open();
      const call = expect(client.tool("wait", { key: "open" })).rejects.toThrow();
      await poll(async () => (await report(client))["started"]).toEqual(["open"]);
      await client.close();
      await call;
      await client.closed;
      await expect(client.tool("echo")).rejects.toThrow();
    });

    if (lab.quits)
      it("ends its calls when the server closes", async () => {
        const client = await lab.open();
        const waiting = expect(client.tool("wait", { key: "open" })).rejects.toThrow();
        await poll(async () => (await report(client))["started"]).toEqual(["open"]);
        await expect(client.tool("quit")).rejects.toThrow();
        await waiting;
        await client.close();
      });
  });
}

function unanswered(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("withdrawn"))));
}

export async function report(client: LabClient): Promise<JsonObject> {
  const found = (await client.tool("report"))["structuredContent"];
  return isObject(found) ? found : {};
}
