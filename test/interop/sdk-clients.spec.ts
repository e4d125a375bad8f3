import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Era, type Fault, type JsonObject, type Listener, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

const server = { command: process.execPath, args: [fileURLToPath(new URL("../fixtures/served.mjs", import.meta.url))] };
const elicited = { action: "accept", content: { name: "Ada" } } as const;
const sampled = { role: "assistant", content: { type: "text", text: "4" }, model: "m" } as const;
const rooted = { roots: [{ uri: "file:///r", name: "r" }] };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
const info = { name: "sdk", version: "0" };

/** What the tests need of either version's client. */
interface Subject {
  readonly client: ClientV1 | ClientV2;
  readonly heard: { readonly logs: unknown[]; readonly updated: unknown[]; tools: number };
}

type TransportV1 = Parameters<ClientV1["connect"]>[0];
type TransportV2 = Parameters<ClientV2["connect"]>[0];

async function openV1(transport: TransportV1): Promise<Subject> {
  const client = new ClientV1(info, { capabilities });
  const heard: Subject["heard"] = { logs: [], updated: [], tools: 0 };
  client.setRequestHandler(ElicitRequestSchema, () => elicited);
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ListRootsRequestSchema, () => rooted);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.logs.push(params.data));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.updated.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.tools++);
  await client.connect(transport);
  return { client, heard };
}

function openV2(mode: "legacy" | "auto" | { pin: string }): (transport: TransportV2) => Promise<Subject> {
  return async (transport) => {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
    const heard: Subject["heard"] = { logs: [], updated: [], tools: 0 };
    client.setRequestHandler("elicitation/create", () => elicited);
    client.setRequestHandler("sampling/createMessage", () => sampled);
    client.setRequestHandler("roots/list", () => rooted);
    client.setNotificationHandler("notifications/message", ({ params }) => void heard.logs.push(params.data));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.updated.push(params.uri));
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.tools++);
    await client.connect(transport);
    return { client, heard };
  };
}

/** Where our server is: in a child of the client on stdio, and at an address of this process elsewhere. */
type Wire = "stdio" | "http" | "sse+http";

const transportsV1: Readonly<Record<Wire, (address: URL) => TransportV1>> = {
  stdio: () => new StdioV1(server),
  http: (address) => new HttpV1(address) as TransportV1,
  "sse+http": (address) => new SseV1(address),
};
const transportsV2: Readonly<Record<Exclude<Wire, "sse+http">, (address: URL) => TransportV2>> = {
  stdio: () => new StdioV2(server),
  http: (address) => new HttpV2(address),
};

interface Row {
  readonly name: string;
  readonly era: Era;
  readonly wire: Wire;
  open(address: URL): Promise<Subject>;
}

const v2: readonly (readonly [string, Era, Parameters<typeof openV2>[0]])[] = [
  ["legacy", "legacy", "legacy"],
  ["finding out", "modern", "auto"],
  ["pinned to 2026-07-28", "modern", { pin: "2026-07-28" }],
];

const subjects: readonly Row[] = [
  ...(["stdio", "http", "sse+http"] as const).map(
    (wire): Row => ({
      name: `SDK v1 client, ${wire}`,
      era: "legacy",
      wire,
      open: (address) => openV1(transportsV1[wire](address)),
    }),
  ),
  ...(["stdio", "http"] as const).flatMap((wire) =>
    v2.map(
      ([how, era, mode]): Row => ({
        name: `SDK v2 client, ${wire}, ${how}`,
        era,
        wire,
        open: (address) => openV2(mode)(transportsV2[wire](address)),
      }),
    ),
  ),
];

for (const { name, era, wire, open } of subjects) {
  describe(name, () => {
    let client: ClientV1;
    let heard: Subject["heard"];
    const errors: Error[] = [];
    const call = async (tool: string, args: JsonObject = {}, options: JsonObject = {}): Promise<JsonObject> =>
      (await client.callTool({ name: tool, arguments: args }, undefined, options)) as JsonObject;

    const faults: Fault[] = [];
    let listener: Listener | undefined;

    beforeAll(async () => {
      if (wire !== "stdio") listener = await serve(contractService(), `${wire}://127.0.0.1:0`, { onFault: (fault) => faults.push(fault) });
      const subject = await open(new URL(listener?.address.replace("sse+", "") ?? "stdio:"));
      heard = subject.heard;
      // The methods that are used here have the same shape in both, but for the schema that only v1's callTool has.
      client =
        subject.client instanceof ClientV1
          ? subject.client
          : (new Proxy(subject.client, {
              get: (target, member) => {
                if (member === "callTool") return (params: never, _schema: unknown, options: never) => target.callTool(params, options);
                const value: unknown = Reflect.get(target, member, target);
                return typeof value === "function" ? value.bind(target) : value;
              },
            }) as unknown as ClientV1);
      subject.client.onerror = (error) => errors.push(error);
    });
    afterAll(async () => {
      // Closing, the SDK tells of its own stream that it cuts.
      const told = [...errors];
      await client.close();
      await listener?.close();
      await nobodyLeft();
      expect(faults).toEqual([]);
      // The SDK's client lets a result overtake the progress that came before it, and then does not know its token.
      expect(told.filter(({ message }) => !message.includes("progress notification for an unknown token"))).toEqual([]);
    });

    test("knows the server", () => {
      expect(client.getServerVersion()).toMatchObject({ name: "contract", version: "1.2.3" });
      expect(client.getInstructions()).toBe("Everything a wire has to carry.");
      expect(client.getServerCapabilities()).toMatchObject({
        tools: { listChanged: true },
        resources: { subscribe: true },
        completions: {},
      });
      const v2 = client as unknown as ClientV2;
      if (name.startsWith("SDK v2"))
        expect([v2.getProtocolEra(), v2.getNegotiatedProtocolVersion()]).toEqual([era, era === "modern" ? "2026-07-28" : "2025-11-25"]);
    });

    test("lists page by page, calls, reads, gets prompts and completes", async () => {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? { cursor: undefined as never } : { cursor });
        names.push(...page.tools.map((tool) => tool.name));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(names.filter((tool) => tool.startsWith("generated-"))).toHaveLength(5000);
      expect((await call("echo", { a: [null, "é"] }))["structuredContent"]).toEqual({ a: [null, "é"] });
      expect((await client.readResource({ uri: "test://text" })).contents).toMatchObject([
        { text: "grüße, 世界 🎈", mimeType: "text/plain" },
      ]);
      const blob = (await client.readResource({ uri: "test://bytes/1000000" })).contents[0] as unknown as { blob: string };
      expect(Buffer.from(blob.blob, "base64")).toHaveLength(1_000_000);
      expect((await client.getPrompt({ name: "greet", arguments: { who: "Ada" } })).messages).toMatchObject([
        { content: { text: "Hello, Ada!" } },
      ]);
      const completed = await client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "a" } });
      expect(completed.completion.values).toEqual(["ada", "alan"]);
      // Version 2 tells its user the modern code in both eras.
      const missing = name.startsWith("SDK v1") ? -32002 : -32602;
      await expect(client.readResource({ uri: "test://none" })).rejects.toMatchObject({ code: missing });
    });

    test("a burst of 20 progress reaches the SDK in order, before the result", async () => {
      const seen: number[] = [];
      const told = client.transport as { onmessage?: (message: never) => void };
      const { onmessage } = told;
      const wire: unknown[] = [];
      told.onmessage = (message: never) => {
        const { method, params } = message as { method?: string; params?: { progress: number } };
        wire.push(method === "notifications/progress" ? params?.progress : "result");
        onmessage?.(message);
      };
      await call("count", { n: 20 }, { onprogress: ({ progress }: { progress: number }) => seen.push(progress) });
      if (onmessage !== undefined) told.onmessage = onmessage;
      expect(wire).toEqual([...Array.from({ length: 20 }, (_, at) => at + 1), "result"]);
      console.log(`${name}: ${wire.length - 1} of 20 of progress on the wire, ${seen.length} of them told by the SDK`);
    });

    test("asks: elicitation, sampling, roots, two at once", async () => {
      expect((await call("ask-form"))["structuredContent"]).toEqual(elicited);
      expect((await call("ask-model"))["structuredContent"]).toMatchObject(sampled);
      expect((await call("ask-roots"))["structuredContent"]).toMatchObject(rooted);
      expect((await call("ask-both"))["structuredContent"]).toEqual({ first: elicited, second: elicited });
    });

    test("a call that its caller gives up is cancelled here", async () => {
      const abort = new AbortController();
      const report = async (): Promise<{ started: string[]; cancelled: string[] }> => (await call("report"))["structuredContent"] as never;
      const waiting = call("wait", { key: "w" }, { signal: abort.signal });
      await vi.waitFor(async () => expect((await report()).started).toContain("w"), patience);
      abort.abort();
      await expect(waiting).rejects.toThrow();
      await vi.waitFor(async () => expect((await report()).cancelled).toContain("w"), patience);
    });

    test("changes of lists and resources are told", async () => {
      const subscription =
        era === "modern"
          ? await (client as unknown as ClientV2).listen({ toolsListChanged: true, resourceSubscriptions: ["test://live"] })
          : undefined;
      if (subscription === undefined) await client.subscribeResource({ uri: "test://live" });
      await call("touch", { uri: "test://live", list: "tools" });
      await call("touch", { uri: "test://text" });
      await vi.waitFor(() => expect([heard.updated, heard.tools]).toEqual([["test://live"], 1]), patience);
      if (subscription === undefined) await client.unsubscribeResource({ uri: "test://live" });
      else await subscription.close();
      await call("touch", { uri: "test://live" });
      await call("echo");
      expect(heard.updated).toEqual(["test://live"]);
    });

    test("log entries from the level that was set", async () => {
      if (era === "legacy") await client.setLoggingLevel("warning");
      const _meta = era === "modern" ? { "io.modelcontextprotocol/logLevel": "warning" } : {};
      await client.callTool({ name: "logs", arguments: {}, _meta });
      await vi.waitFor(() => expect(heard.logs).toEqual([{ loud: true }]), patience);
    });

    test("errors keep their code and data", async () => {
      await expect(call("fail", { code: -31999, data: { why: [null] } })).rejects.toMatchObject({ code: -31999, data: { why: [null] } });
      expect((await call("boom"))["isError"]).toBe(true);
    });
  });
}
