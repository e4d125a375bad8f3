import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ConnectOptions, ElicitParams, JsonObject, LogEntry, McpClient, SampleParams } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

const texts = (result: JsonObject): string => JSON.stringify(result["content"] ?? result["contents"] ?? result["messages"]);

/** Everything that server-everything has, by a client that `open` connects to it: one named test a feature, and one line of its own. */
export function everything(wire: string, open: (options: ConnectOptions) => Promise<McpClient>): void {
  describe(`server-everything, ${wire}`, () => {
    const elicited: ElicitParams[] = [];
    const sampled: SampleParams[] = [];
    const logs: LogEntry[] = [];
    const faults: unknown[] = [];
    let roots = [{ uri: "file:///one", name: "one" }];
    let client: McpClient;

    function feature(name: string, run: () => Promise<void>): void {
      test(name, async () => {
        await run();
        console.log(`everything, ${wire}: ${name}`);
      });
    }

    beforeAll(async () => {
      client = await open({
        elicit: (params) => {
          elicited.push(params);
          return params.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada", check: true, integer: 7 } };
        },
        elicitUrl: true,
        sample: (params) => {
          sampled.push(params);
          return { role: "assistant", content: { type: "text", text: "forty-two" }, model: "deep-thought" };
        },
        roots: () => roots,
        onLog: (entry) => logs.push(entry),
        onFault: (fault) => faults.push(fault),
        onStderr: () => {},
      });
    });

    afterAll(async () => {
      await client.close();
      await nobodyLeft();
      expect(faults).toEqual([]);
    });

    feature("handshake: legacy found by probing, capabilities and instructions known", async () => {
      expect(client.server).toMatchObject({ era: "legacy", version: "2025-11-25", info: { name: "mcp-servers/everything" } });
      expect(client.server.instructions).toContain("Everything Server");
      for (const path of ["tools.listChanged", "resources.subscribe", "prompts.listChanged", "logging", "completions", "tasks.list"])
        expect(client.can(path)).toBe(true);
    });

    feature("tools: list", async () => {
      const names: string[] = [];
      for await (const tool of client.tools()) names.push(tool.name);
      expect(names).toEqual(
        expect.arrayContaining([
          "echo",
          "get-annotated-message",
          "get-env",
          "get-resource-links",
          "get-resource-reference",
          "get-roots-list",
          "get-structured-content",
          "get-sum",
          "get-tiny-image",
          "gzip-file-as-resource",
          "simulate-research-query",
          "toggle-simulated-logging",
          "toggle-subscriber-updates",
          "trigger-elicitation-request",
          "trigger-long-running-operation",
          "trigger-sampling-request",
          "trigger-url-elicitation",
        ]),
      );
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    });

    feature("tools: echo", async () => {
      expect((await client.callTool("echo", { message: "grüße 🎈" })).content).toEqual([{ type: "text", text: "Echo: grüße 🎈" }]);
    });

    feature("tools: get-sum", async () => {
      expect(texts(await client.callTool("get-sum", { a: 40, b: 2 }))).toContain("42");
    });

    feature("tools: bad arguments are a result with isError", async () => {
      const result = await client.callTool("get-sum", { a: "x" });
      expect(result.isError).toBe(true);
    });

    feature("tools: structured content", async () => {
      const { structuredContent } = await client.callTool("get-structured-content", { location: "Chicago" });
      expect(structuredContent).toEqual({ temperature: expect.any(Number), conditions: expect.any(String), humidity: expect.any(Number) });
    });

    feature("tools: annotated message with an image", async () => {
      const { content } = await client.callTool("get-annotated-message", { messageType: "error", includeImage: true });
      expect(content).toMatchObject([
        { type: "text", annotations: { priority: 1, audience: ["user", "assistant"] } },
        { type: "image", mimeType: "image/png", annotations: { priority: 0.5, audience: ["user"] } },
      ]);
    });

    feature("tools: image", async () => {
      const { content } = await client.callTool("get-tiny-image");
      const image = content.find(({ type }) => type === "image") as JsonObject;
      expect(
        Buffer.from(image["data"] as string, "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
    });

    feature("tools: resource links", async () => {
      const { content } = await client.callTool("get-resource-links", { count: 4 });
      const links = content.filter(({ type }) => type === "resource_link") as unknown as { uri: string }[];
      expect(links).toHaveLength(4);
      const { contents } = await client.readResource(links[0]?.uri as string);
      expect(contents).toHaveLength(1);
    });

    feature("tools: embedded resource", async () => {
      const { content } = await client.callTool("get-resource-reference", { resourceType: "Blob", resourceId: 3 });
      expect(content).toContainEqual(
        expect.objectContaining({
          type: "resource",
          resource: expect.objectContaining({ uri: "demo://resource/dynamic/blob/3", blob: expect.any(String) }),
        }),
      );
    });

    feature("tools: a file that becomes a resource", async () => {
      const data = `data:text/plain;base64,${Buffer.from("squeeze me").toString("base64")}`;
      const { content } = await client.callTool("gzip-file-as-resource", { name: "x.gz", data, outputType: "resourceLink" });
      const uri = (content as unknown as { uri: string }[])[0]?.uri as string;
      const { contents } = await client.readResource(uri);
      const bytes = Buffer.from(contents[0]?.blob as string, "base64");
      expect([bytes[0], bytes[1]]).toEqual([0x1f, 0x8b]);
      const listed = await client.listResources();
      expect(listed.resources.map((resource) => resource.uri)).toContain(uri);
    });

    feature("tasks: a tool that only runs as a task, by calls that the client has no names for", async () => {
      const created = await client.call("tools/call", {
        name: "simulate-research-query",
        arguments: { topic: "wires" },
        task: { ttl: 60_000 },
      });
      const { taskId } = created["task"] as { taskId: string };
      expect(await client.call("tasks/get", { taskId })).toMatchObject({ taskId, status: "working" });
      expect((await client.call("tasks/list"))["tasks"]).toMatchObject([{ taskId }]);
      expect(await client.call("tasks/cancel", { taskId })).toMatchObject({ taskId, status: "cancelled" });
    });

    feature("prompts: list", async () => {
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]);
    });

    feature("prompts: get, with and without arguments", async () => {
      expect(texts(await client.getPrompt("simple-prompt"))).toContain("simple prompt");
      expect(texts(await client.getPrompt("args-prompt", { city: "Oslo" }))).toContain("What's weather in Oslo?");
      expect(texts(await client.getPrompt("resource-prompt", { resourceType: "Text", resourceId: "2" }))).toContain(
        "demo://resource/dynamic/text/2",
      );
      await expect(client.getPrompt("args-prompt", {})).rejects.toMatchObject({ rpcCode: -32602 });
    });

    feature("completion: of a prompt, with what is known of the others", async () => {
      const ref = { type: "ref/prompt", name: "completable-prompt" } as const;
      expect((await client.complete(ref, { name: "department", value: "S" })).completion.values).toEqual(["Sales", "Support"]);
      const known = { arguments: { department: "Engineering" } };
      expect((await client.complete(ref, { name: "name", value: "A" }, known)).completion.values).toEqual(["Alice"]);
    });

    feature("completion: of a resource template", async () => {
      const ref = { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" } as const;
      expect((await client.complete(ref, { name: "resourceId", value: "12" })).completion.values).toEqual(["12"]);
    });

    feature("resources: list and templates", async () => {
      const uris: string[] = [];
      for await (const { uri } of client.resources()) uris.push(uri);
      expect(uris).toContain("demo://resource/static/document/features.md");
      const templates = (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate);
      expect(templates).toEqual(["demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}"]);
    });

    feature("resources: read text and blob, whole and in chunks", async () => {
      const { contents } = await client.readResource("demo://resource/dynamic/text/5");
      expect(contents).toMatchObject([{ mimeType: "text/plain", text: expect.stringContaining("Resource 5") }]);
      const blob = (await client.readResource("demo://resource/dynamic/blob/5")).contents[0]?.blob as string;
      expect(Buffer.from(blob, "base64").toString()).toContain("Resource 5");
      let text = "";
      for await (const chunk of client.readChunks("demo://resource/static/document/features.md")) text += chunk.data;
      expect(text).toBe((await client.readResource("demo://resource/static/document/features.md")).contents[0]?.text);
    });

    feature("resources: a resource that is not there", async () => {
      await expect(client.readResource("demo://nowhere")).rejects.toMatchObject({ name: "Fault", rpcCode: -32602 });
    });

    feature("subscriptions: watch and listen hear of updates, and unsubscribing ends them", async () => {
      const [watched, listened] = ["demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2"];
      const watch = client.watch(watched);
      const change = watch.next();
      const listen = client.listen({ resourceSubscriptions: [listened] });
      expect((await listen.next()).value).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
      const update = listen.next();
      const received = (kind: string, uri: string): boolean =>
        logs.some(({ data }) => String(data).startsWith(`Received ${kind}`) && String(data).includes(uri));
      await vi.waitFor(() => expect(received("Subscribe", watched)).toBe(true), patience);
      await client.callTool("toggle-subscriber-updates");
      expect((await change).value).toEqual({ uri: watched, change: "modified" });
      expect((await update).value).toEqual({ method: "notifications/resources/updated", params: { uri: listened } });
      await client.callTool("toggle-subscriber-updates");
      await Promise.all([watch.return(), listen.return()]);
      for (const uri of [watched, listened]) await vi.waitFor(() => expect(received("Unsubscribe", uri)).toBe(true), patience);
    });

    feature("list_changed: a tool that adds a resource is heard of", async () => {
      const listen = client.listen({ resourcesListChanged: true });
      await listen.next();
      const change = listen.next();
      await client.callTool("gzip-file-as-resource", { name: "y.gz", data: "data:text/plain,y", outputType: "resourceLink" });
      expect((await change).value).toMatchObject({ method: "notifications/resources/list_changed" });
      await listen.return();
    });

    feature("progress: every step in order, before the result", async () => {
      const seen: unknown[] = [];
      for await (const event of client.streamTool("trigger-long-running-operation", { duration: 0.2, steps: 5 })) {
        // An entry that names no call comes with the one that is open, and may be about anything.
        if (event.kind === "log") logs.push(event.entry);
        else seen.push(event.kind === "progress" ? event.progress.progress : event.kind);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, "result"]);
    });

    feature("cancel: a long call is given up at once, and its progress goes nowhere", async () => {
      const abort = new AbortController();
      const seen: number[] = [];
      const call = client.callTool(
        "trigger-long-running-operation",
        { duration: 2, steps: 20 },
        {
          signal: abort.signal,
          onProgress: ({ progress }) => {
            seen.push(progress);
            abort.abort();
          },
        },
      );
      await expect(call).rejects.toMatchObject({ code: "cancelled" });
      await client.callTool("trigger-long-running-operation", { duration: 0.3, steps: 1 });
      expect(seen).toEqual([1]);
    });

    feature("logging: setLogLevel, then simulated entries of no call", async () => {
      client.setLogLevel("debug");
      const before = logs.length;
      await client.callTool("toggle-simulated-logging");
      await vi.waitFor(
        () => expect(logs.slice(before).some(({ data }) => /-level message|level-message/.test(String(data)))).toBe(true),
        patience,
      );
      await client.callTool("toggle-simulated-logging");
    });

    feature("sampling: the model's answer reaches the tool", async () => {
      expect(texts(await client.callTool("trigger-sampling-request", { prompt: "what is it?", maxTokens: 17 }))).toContain("forty-two");
      expect(sampled.at(-1)).toMatchObject({ maxTokens: 17, systemPrompt: "You are a helpful test server." });
    });

    feature("elicitation: a form", async () => {
      const result = texts(await client.callTool("trigger-elicitation-request"));
      expect(result).toContain("Name: Ada");
      expect(result).toContain("Favorite Integer: 7");
      expect(elicited.at(-1)?.requestedSchema).toMatchObject({ required: ["name"] });
    });

    feature("elicitation: a URL, and the error that requires one", async () => {
      const url = "https://example.com/consent";
      expect(texts(await client.callTool("trigger-url-elicitation", { url }))).toContain("completed the URL elicitation");
      expect(elicited.at(-1)).toMatchObject({ mode: "url", url });
      const required = client.callTool("trigger-url-elicitation", { url, errorPath: true });
      await expect(required).rejects.toMatchObject({ rpcCode: -32042, data: { elicitations: [{ mode: "url" }] } });
    });

    feature("roots: asked for, and again when they change", async () => {
      const told = (count: number): boolean => logs.some(({ data }) => String(data).startsWith(`Roots updated: ${count} `));
      await vi.waitFor(() => expect(told(1)).toBe(true), patience);
      expect(texts(await client.callTool("get-roots-list"))).toContain("file:///one");
      roots = [...roots, { uri: "file:///two", name: "two" }];
      await client.rootsChanged();
      await vi.waitFor(() => expect(told(2)).toBe(true), patience);
      expect(texts(await client.callTool("get-roots-list"))).toContain("file:///two");
    });

    feature("ping", () => client.ping());

    feature("all at once: 200 calls of five tools, each its own answer", async () => {
      await Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          if (at % 5 === 0) expect(texts(await client.callTool("trigger-elicitation-request"))).toContain("Ada");
          else if (at % 5 === 1)
            expect(texts(await client.callTool("trigger-sampling-request", { prompt: `p${at}` }))).toContain("forty-two");
          else if (at % 5 === 2)
            expect(texts(await client.readResource(`demo://resource/dynamic/text/${at}`))).toContain(`Resource ${at}:`);
          else expect(texts(await client.callTool("echo", { message: `m${at}` }))).toContain(`Echo: m${at}`);
        }),
      );
    });
  });
}
