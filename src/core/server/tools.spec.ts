import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contextOf, faultOf, nextOf, outcome, until } from "../../../test/calls.js";
import { createServer, Fault, type JsonObject, log, note, progress, type StandardSchema } from "../index.js";

const make = (): ReturnType<typeof createServer> => createServer({ name: "demo", version: "1.0.0" });
const text = (result: JsonObject): string => (result["content"] as { text: string }[])[0]?.text ?? "";

describe("a tool's description", () => {
  it("publishes JSON Schema as it is, and an object where there is none", async () => {
    const input = { type: "object", properties: { a: { type: "string" } }, "x-mine": 1 };
    const server = make()
      .tool("plain", { title: "Plain", annotations: { readOnlyHint: true }, icons: [{ src: "a" }], _meta: { k: 1 } }, () => "x")
      .tool("typed", { input, output: { type: "array" } }, () => ({ structuredContent: [] }));
    const { replies } = await outcome(server, "tools/list");
    expect(replies.map((reply) => reply.kind === "item" && reply.value)).toEqual([
      {
        name: "plain",
        title: "Plain",
        annotations: { readOnlyHint: true },
        icons: [{ src: "a" }],
        _meta: { k: 1 },
        inputSchema: { type: "object" },
      },
      { name: "typed", inputSchema: input, outputSchema: { type: "array" } },
    ]);
  });

  it("stays as it was registered", async () => {
    const input = { type: "object", properties: { a: { type: "string" } } };
    const server = make().tool("typed", { input }, () => "x");
    input.properties.a.type = "number";
    const { replies } = await outcome(server, "tools/list");
    expect(replies[0]).toMatchObject({ value: { inputSchema: { properties: { a: { type: "string" } } } } });
  });

  it("publishes the JSON Schema that a Standard Schema makes", async () => {
    const server = make().tool("t", { input: z.object({ n: z.number().default(3) }), output: z.object({ n: z.number() }) }, ({ n }) => ({
      structuredContent: { n },
    }));
    const { replies } = await outcome(server, "tools/list");
    expect(replies[0]).toMatchObject({
      value: {
        inputSchema: { type: "object", properties: { n: { type: "number", default: 3 } } },
        outputSchema: { type: "object", properties: { n: { type: "number" } } },
      },
    });
  });

  it("needs inputSchema beside a schema that makes none", async () => {
    const bare: StandardSchema<unknown, { shout: string }> = {
      "~standard": {
        version: 1,
        vendor: "bare",
        validate: async (value) =>
          typeof (value as JsonObject)["say"] === "string"
            ? { value: { shout: ((value as JsonObject)["say"] as string).toUpperCase() } }
            : { issues: [{ message: "say something", path: [{ key: "say" }, 0, "odd key"] }] },
      },
    };
    expect(() => make().tool("t", { input: bare }, ({ shout }) => shout)).toThrow(/inputSchema/);
    const server = make().tool("t", { input: bare, inputSchema: { type: "object" } }, ({ shout }) => shout);
    expect(text((await outcome(server, "tools/call", { name: "t", arguments: { say: "hi" } })).result)).toBe("HI");
    const bad = await outcome(server, "tools/call", { name: "t", arguments: {} });
    expect(text(bad.result)).toContain('arguments.say[0]["odd key"]: say something');
  });

  it("is registered once, and takes objects", () => {
    const server = make().tool("t", {}, () => "x");
    expect(() => server.tool("t", {}, () => "y")).toThrow(Fault);
    expect(() => server.tool("u", { input: { type: "string" } }, () => "y")).toThrow(/has to be an object/);
  });
});

describe("arguments", () => {
  const input = z.object({ city: z.string(), days: z.number().int().default(1) });
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, at: { type: "array", items: { type: "integer" } } },
    required: ["city"],
  };
  const server = make()
    .tool("zod", { input }, ({ city, days }) => `${city} ${days satisfies number}`)
    .tool("json", { input: schema }, (args) => JSON.stringify(args))
    .tool("none", {}, (args) => JSON.stringify(args));
  const call = async (name: string, args?: unknown): Promise<JsonObject> =>
    (await outcome(server, "tools/call", args === undefined ? { name } : { name, arguments: args })).result;

  it("reach the handler as the schema gives them", async () => {
    expect(text(await call("zod", { city: "Bern" }))).toBe("Bern 1");
    expect(text(await call("json", { city: "Bern", more: null }))).toBe('{"city":"Bern","more":null}');
    expect(text(await call("none"))).toBe("{}");
  });

  it.each([
    ["zod", { city: 7 }, "arguments.city: "],
    ["zod", { city: "x", days: 1.5 }, "arguments.days: "],
    ["zod", "text", "arguments: "],
    ["json", { city: 7 }, "arguments.city: must be string"],
    ["json", {}, "arguments.city: must have required property"],
    ["json", { city: "x", at: [1, "2"] }, "arguments.at[1]: must be integer"],
    ["json", [], "arguments: must be object"],
    ["none", "text", "arguments: must be object"],
    ["none", null, "arguments: must be object"],
  ])("that %s refuses (%j) are a result that names the field", async (name, args, message) => {
    const result = await call(name, args);
    expect(result["isError"]).toBe(true);
    expect(text(result)).toContain(message);
  });

  it.each(["__proto__", "constructor", "toString"])("named %s neither pollute nor get lost", async (key) => {
    const hostile = JSON.parse(`{"city":"x","${key}":{"polluted":1}}`) as JsonObject;
    let seen: JsonObject = {};
    const keep = (args: JsonObject): string => {
      seen = args;
      return "x";
    };
    const strict = { type: "object", properties: { [key]: { type: "object" } }, required: [key] };
    const one = make()
      .tool("any", {}, keep)
      .tool("loose", { input: z.looseObject({ city: z.string() }) }, keep)
      .tool("strict", { input: key === "__proto__" ? schema : strict }, keep);
    for (const name of ["any", "strict"]) {
      seen = {};
      await outcome(one, "tools/call", { name, arguments: hostile });
      expect(Object.getOwnPropertyDescriptor(seen, key)?.value).toEqual({ polluted: 1 });
      expect(Object.getPrototypeOf(seen)).toBe(Object.prototype);
    }
    await outcome(one, "tools/call", { name: "loose", arguments: hostile });
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
    // What an object inherits is no argument.
    if (key !== "__proto__") {
      const { result } = await outcome(one, "tools/call", { name: "strict", arguments: {} });
      expect(text(result)).toContain(`arguments.${key}: must have required property`);
    }
  });

  it("are checked by the dialect that the schema names", async () => {
    const one = make()
      .tool(
        "seven",
        {
          input: { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { a: { items: [{ type: "string" }] } } },
        },
        () => "ok",
      )
      .tool(
        "latest",
        {
          input: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            $id: "https://a.test/x",
            properties: { a: { prefixItems: [{ $ref: "#/$defs/s" }] } },
            $defs: { s: { type: "string" } },
          },
        },
        () => "ok",
      )
      .tool("four", { input: { $schema: "http://json-schema.org/draft-04/schema#" } }, () => "ok")
      .tool("remote", { input: { $ref: "http://127.0.0.1:9/schema" } }, () => "ok");
    expect(text((await outcome(one, "tools/call", { name: "seven", arguments: { a: [1] } })).result)).toContain(
      "arguments.a[0]: must be string",
    );
    expect(text((await outcome(one, "tools/call", { name: "latest", arguments: { a: [1] } })).result)).toContain(
      "arguments.a[0]: must be string",
    );
    expect((await faultOf(one, "tools/call", { name: "four" })).message).toContain(
      "dialect is not supported: http://json-schema.org/draft-04/schema",
    );
    expect((await faultOf(one, "tools/call", { name: "remote" })).message).toContain("http://127.0.0.1:9/schema");
  });
});

describe("results", () => {
  const asked = { resultType: "input_required", inputRequests: {}, requestState: "s" };
  const server = make()
    .tool("text", {}, async () => "hello")
    .tool("blocks", {}, () => [
      { type: "text", text: "a" },
      { type: "image", data: "", mimeType: "image/png" },
    ])
    .tool("whole", {}, () => ({ content: [{ type: "text", text: "a" }], extra: null, _meta: { m: 1 } }))
    .tool("structured", {}, () => ({ structuredContent: { a: [1] } }))
    .tool("asked", { output: z.object({}) }, () => asked)
    .tool("throws", {}, () => {
      throw new Error("no luck");
    })
    .tool("late", {}, async function* () {
      yield note("vendor/x");
      throw new TypeError("later");
    })
    .tool("fault", {}, () => {
      throw new Fault("denied", "not you", { data: { why: 1 }, rpcCode: -7 });
    })
    .tool("output", { output: z.object({ n: z.number().transform(String).pipe(z.string()) }) }, () => ({ structuredContent: { n: 4 } }))
    .tool("broken", { output: { type: "object", required: ["n"] } }, () => ({ structuredContent: {} }))
    .tool("missing", { output: z.object({ n: z.number() }) }, () => "text only")
    .tool("excused", { output: z.object({ n: z.number() }) }, () => ({ content: [], isError: true }));
  const call = async (name: string): Promise<JsonObject> => (await outcome(server, "tools/call", { name })).result;

  it("take every form", async () => {
    expect(await call("text")).toEqual({ content: [{ type: "text", text: "hello" }] });
    expect(await call("blocks")).toMatchObject({ content: [{ text: "a" }, { type: "image" }] });
    expect(await call("whole")).toEqual({ content: [{ type: "text", text: "a" }], extra: null, _meta: { m: 1 } });
    expect(await call("structured")).toEqual({ content: [{ type: "text", text: '{"a":[1]}' }], structuredContent: { a: [1] } });
    expect(await call("asked")).toBe(asked);
  });

  it("tell what was thrown, without the stack; a Fault passes", async () => {
    const faults: Fault[] = [];
    const stop = server.onFault((fault) => faults.push(fault));
    expect(await call("throws")).toEqual({ content: [{ type: "text", text: "no luck" }], isError: true });
    expect(await call("late")).toEqual({ content: [{ type: "text", text: "later" }], isError: true });
    const fault = await faultOf(server, "tools/call", { name: "fault" });
    expect(fault).toMatchObject({ code: "denied", message: "not you", data: { why: 1 }, rpcCode: -7 });
    stop();
    expect(faults.map(({ cause }) => (cause as Error).message)).toEqual(["no luck", "later"]);
  });

  it("keep to the output schema", async () => {
    expect(await call("output")).toMatchObject({ structuredContent: { n: "4" }, content: [{ text: '{"n":"4"}' }] });
    for (const name of ["broken", "missing"]) {
      const result = await call(name);
      expect(result["isError"]).toBe(true);
      expect(text(result)).toMatch(/output schema\n.*structuredContent/);
    }
    expect(await call("excused")).toEqual({ content: [], isError: true });
  });

  it("name a tool that is not there", async () => {
    for (const name of ["nobody", "__proto__", "constructor"]) {
      const fault = await faultOf(server, "tools/call", { name });
      expect(fault).toMatchObject({ code: "invalid-params", message: `unknown tool: ${name}`, data: { name } });
    }
    expect((await faultOf(server, "tools/call", {})).code).toBe("invalid-params");
  });
});

describe("what a generator yields", () => {
  const server = make().tool("steps", {}, async function* (_, ctx) {
    yield progress(1, 2, "half");
    yield log("debug", "d");
    yield log("warning", { w: 1 }, "me");
    yield note("vendor/x", { a: 1 });
    return ctx.wantsProgress ? "wanted" : "unwanted";
  });
  const kinds = async (context: Parameters<typeof outcome>[3]): Promise<string[]> =>
    (await outcome(server, "tools/call", { name: "steps" }, context)).replies.map((reply) => reply.kind);

  it("reaches those who want it", async () => {
    const { replies, result } = await outcome(server, "tools/call", { name: "steps" }, contextOf({ progress: true, logLevel: "debug" }));
    expect(replies).toEqual([
      { kind: "progress", params: { progress: 1, total: 2, message: "half" } },
      { kind: "log", params: { level: "debug", data: "d" } },
      { kind: "log", params: { level: "warning", data: { w: 1 }, logger: "me" } },
      { kind: "note", method: "vendor/x", params: { a: 1 } },
    ]);
    expect(text(result)).toBe("wanted");
  });

  it("is dropped for others", async () => {
    expect(await kinds(contextOf())).toEqual(["note"]);
    expect(await kinds(contextOf({ logLevel: "error" }))).toEqual(["note"]);
    expect(await kinds(contextOf({ client: { era: "legacy" } }))).toEqual(["log", "note"]);
  });

  it("is pulled: the handler stands still until the next is wanted", async () => {
    let at = 0;
    const one = make().tool("t", {}, async function* () {
      for (;;) yield note("vendor/x", { at: at++ });
    });
    const replies = one.call({ method: "tools/call", params: { name: "t" } }, contextOf());
    await nextOf(replies);
    await nextOf(replies);
    expect(at).toBe(2);
    await replies.return();
  });
});

describe("leaving", () => {
  it("reaches the handler's signal in the middle of a pending next", async () => {
    const events: string[] = [];
    let entered = (): void => {};
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const server = make().tool("wait", {}, async function* (_, { signal }) {
      try {
        entered();
        yield await new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return "never";
      } finally {
        events.push(`closed, ${(signal.reason as Fault).code}`);
      }
    });
    const left = server.call({ method: "tools/call", params: { name: "wait" } }, contextOf());
    const pending = left.next();
    await inside;
    await left.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(events).toEqual(["closed, cancelled"]);
  });

  it("makes no news of what a handler throws on the way out", async () => {
    const faults: Fault[] = [];
    let gone = false;
    const server = make().tool("t", {}, (_, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reject(new Error("aborted"));
          gone = true;
        });
      });
    });
    server.onFault((fault) => faults.push(fault));
    const replies = server.call({ method: "tools/call", params: { name: "t" } }, contextOf());
    void replies.next();
    await replies.return();
    await until(() => gone);
    await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toEqual([]);
  });

  it("by the caller's cancel ends a plain handler's call too", async () => {
    const context = contextOf();
    const server = make().tool("wait", {}, () => new Promise<never>(() => {}));
    const pending = server.call({ method: "tools/call", params: { name: "wait" } }, context).next();
    context.cancel.fire(new Fault("deadline", "too late"));
    await expect(pending).rejects.toMatchObject({ code: "deadline" });
  });

  it("while arguments are checked keeps the handler from running", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    let ran = false;
    const server = make().tool("t", { input: z.object({}).refine(() => gate.then(() => true)) }, () => {
      ran = true;
      return "x";
    });
    const replies = server.call({ method: "tools/call", params: { name: "t" } }, contextOf());
    const pending = replies.next();
    await replies.return();
    release();
    await pending;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran).toBe(false);
  });
});

describe("a catalogue of tools", () => {
  const tool = { name: "dyn", inputSchema: { type: "object", required: ["a"] }, outputSchema: { type: "object" } };
  it("finds, checks and calls", async () => {
    const server = make()
      .tool("own", {}, () => "own")
      .tools({
        list: () => [tool],
        find: async (name) => (name === "dyn" ? tool : undefined),
        call: (name, args) => ({ structuredContent: { name, args } }),
      });
    const call = (name: string, args: JsonObject): ReturnType<typeof outcome> => outcome(server, "tools/call", { name, arguments: args });
    expect((await call("own", {})).result).toMatchObject({ content: [{ text: "own" }] });
    expect((await call("dyn", { a: 1 })).result).toMatchObject({ structuredContent: { name: "dyn", args: { a: 1 } } });
    expect(text((await call("dyn", {})).result)).toContain("arguments.a");
    expect((await faultOf(server, "tools/call", { name: "other" })).message).toBe("unknown tool: other");
  });

  it("without find is asked to call", async () => {
    const server = make().tools({ list: () => [], call: (name) => (name === "yes" ? "called" : undefined) });
    expect(text((await outcome(server, "tools/call", { name: "yes" })).result)).toBe("called");
    expect((await faultOf(server, "tools/call", { name: "no" })).message).toBe("unknown tool: no");
  });
});
