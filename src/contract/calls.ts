import { Fault, type JsonObject, type LogEntry, type Message } from "../core/index.js";
import { equal, eventually, member, ok, rejection } from "./assert.js";
import { type Check, check } from "./check.js";
import { reportOf } from "./service.js";

const hostile: JsonObject = {
  ["__proto__"]: { polluted: true },
  constructor: 1,
  nul: null,
  no: false,
  empty: [],
  none: {},
  text: "é\u2028🎈",
  deep: [[{ a: [0, -1.5e300] }]],
};

export const callChecks: readonly Check[] = [
  check("a call's arguments and result keep every value", async (client) => {
    const result = await client.callTool("echo", hostile);
    equal(result.structuredContent, hostile, "the echo");
    ok(!("polluted" in {}), "a prototype was polluted");
  }),
  check("request _meta and unknown result members pass", async (client) => {
    const result = await client.callTool("meta", {}, { meta: { "com.example/x": { a: null } } });
    equal(result.structuredContent, { "com.example/x": { a: null } }, "the request's _meta");
    equal(result["com.example/extra"], [null, false], "the unknown member");
    equal(member(result["_meta"], "com.example/m"), 1, "the result's _meta");
  }),
  check("a burst of progress arrives whole, in order, before the result", async (client) => {
    const seen: number[] = [];
    const kinds: string[] = [];
    for await (const event of client.streamTool("count", { n: 20 })) {
      kinds.push(event.kind);
      if (event.kind === "progress") seen.push(event.progress.progress);
    }
    equal(
      seen,
      Array.from({ length: 20 }, (_, at) => at + 1),
      "the progress",
    );
    equal(kinds.at(-1), "result", "the last event");
  }),
  check("progress of concurrent calls goes to its own call", async (client) => {
    const calls = Array.from({ length: 10 }, async (_, at) => {
      const seen: unknown[] = [];
      await client.callTool("count", { n: at + 1 }, { onProgress: ({ total }) => seen.push(total) });
      equal(
        seen,
        Array.from({ length: at + 1 }, () => at + 1),
        `the progress of call ${at}`,
      );
    });
    await Promise.all(calls);
  }),
  check("log entries and vendor notifications of a call arrive, filtered by level", async (client) => {
    const entries: LogEntry[] = [];
    const notes: Message[] = [];
    for await (const event of client.streamTool("logs", {}, { logLevel: "info" })) {
      if (event.kind === "log") entries.push(event.entry);
      if (event.kind === "note") notes.push(event.note);
    }
    equal(entries, [{ level: "warning", logger: "lab", data: { loud: true } }], "the entries");
    equal(notes, [{ method: "notifications/com.example/seen", params: { depth: 1 } }], "the notifications");
  }),
  check("a tool's failure is a result, a fault keeps its code and data", async (client) => {
    const broken = await client.callTool("boom");
    ok(broken.isError === true && JSON.stringify(broken.content).includes("it broke"), "the failure is no result");
    const error = await rejection(client.callTool("fail", { code: -31999, data: { why: [null, 1] } }), "the fault");
    ok(error instanceof Fault, "no Fault");
    equal([error.rpcCode, error.message, error.data], [-31999, "as told", { why: [null, 1] }], "the fault");
  }),
  check("invalid arguments are a result that names the field", async (client) => {
    const result = await client.callTool("typed", { city: 7 });
    ok(result.isError === true && JSON.stringify(result.content).includes("city"), "the field is not named");
  }),
  check("an unknown tool, resource, prompt and method are told apart from failures", async (client) => {
    const calls = [
      client.callTool("no-such"),
      client.readResource("test://no-such"),
      client.getPrompt("no-such"),
      client.call("com.example/none"),
    ];
    const codes = await Promise.all(calls.map(async (call) => (await rejection(call, "the unknown")).code));
    const [tool, resource, prompt, method] = codes;
    equal([tool, prompt, method], ["invalid-params", "invalid-params", "unknown-method"], "the codes");
    // Legacy servers have a code of its own for it, modern ones do not.
    ok(resource === "not-found" || resource === "invalid-params", `the code of an unknown resource: ${resource}`);
  }),
  check("vendor methods and notifications pass", async (client) => {
    equal((await client.call("com.example/echo", hostile))["echoed"], hostile, "the vendor result");
    await client.notify("notifications/com.example/hello", { n: 1 });
    await eventually(async () => {
      const { notifications } = reportOf(await client.callTool("report"));
      return notifications.some((note) => note["method"] === "notifications/com.example/hello" && member(note["params"], "n") === 1);
    }, "the notification");
  }),
  check("prompts are got and completed", async (client) => {
    const { messages } = await client.getPrompt("greet", { who: "Ada" });
    equal(
      messages.map((message) => member(message.content, "text")),
      ["Hello, Ada!"],
      "the prompt",
    );
    const { completion } = await client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "a" });
    equal(completion.values, ["ada", "alan"], "the completion");
    const names: string[] = [];
    for await (const prompt of client.prompts()) names.push(prompt.name);
    equal(names, ["greet"], "the prompts");
  }),
  check("the client knows its server before it calls", async (client) => {
    const { server } = client;
    equal(
      [server.info?.name, server.info?.version, server.instructions],
      ["contract", "1.2.3", "Everything a wire has to carry."],
      "the server",
    );
    equal(server.experimental, { "com.example/lab": { level: 2 } }, "experimental");
    equal(server.extensions["com.example/thing"], { a: 1 }, "the extension");
    ok(client.can("tools") && client.can("resources.subscribe") && client.can("completions") && !client.can("tasks"), "the capabilities");
    await client.ping();
    equal((await client.discover()).instructions, server.instructions, "discover");
  }),
];
