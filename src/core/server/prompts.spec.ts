import { describe, expect, it } from "vitest";
import { contextOf, faultOf, outcome } from "../../../test/calls.js";
import { createServer, elicit, Fault, type JsonObject } from "../index.js";

const words = Array.from({ length: 250 }, (_, at) => `w${at}`);
let made = 0;

const server = createServer({ name: "demo", version: "1" })
  .prompt(
    "greet",
    {
      title: "Greet",
      description: "says hello",
      arguments: {
        who: { description: "whom", required: true, complete: (value) => words.filter((word) => word.startsWith(value)) },
        how: { complete: (value, ctx) => [`${value} ${ctx.arguments["who"]}`] },
        lazy: {
          complete: function* () {
            for (;;) yield `l${made++}`;
          },
        },
        exact: { complete: async () => ({ values: ["e"], total: 9, hasMore: true }) },
        plain: {},
      },
    },
    ({ who, how }) => `${who satisfies string} ${(how satisfies string | undefined) ?? "quietly"}`,
  )
  .prompt("messages", {}, () => [{ role: "assistant", content: { type: "text", text: "hi" } }])
  .prompt("whole", { description: "mine" }, async () => ({ messages: [], extra: 1 }))
  .prompt("asks", {}, async function* () {
    return (yield* elicit({ message: "?" })).action;
  })
  .prompt("hostile", { arguments: { constructor: { required: true } } }, (args) => args.constructor as unknown as string)
  .prompts({ list: () => [{ name: "dyn" }], get: (name, args) => (name === "dyn" ? JSON.stringify(args) : undefined) })
  .resourceTemplate({ uriTemplate: "t://{id}/{part}", name: "t", complete: { id: () => ["7"] } }, () => "x");

const get = async (name: string, args?: JsonObject): Promise<JsonObject> =>
  (await outcome(server, "prompts/get", args === undefined ? { name } : { name, arguments: args })).result;
const complete = async (ref: JsonObject, name: string, value = "", given?: JsonObject): Promise<unknown> =>
  (await outcome(server, "completion/complete", { ref, argument: { name, value }, ...(given && { context: { arguments: given } }) }))
    .result["completion"];

describe("prompts", () => {
  it("are listed without their functions", async () => {
    const { replies } = await outcome(server, "prompts/list");
    expect(replies[0]).toEqual({
      kind: "item",
      value: {
        name: "greet",
        title: "Greet",
        description: "says hello",
        arguments: [
          { name: "who", description: "whom", required: true },
          { name: "how" },
          { name: "lazy" },
          { name: "exact" },
          { name: "plain" },
        ],
      },
    });
    expect(replies).toHaveLength(6);
  });

  it("give text, messages or a whole result", async () => {
    expect(await get("greet", { who: "Ada" })).toEqual({
      description: "says hello",
      messages: [{ role: "user", content: { type: "text", text: "Ada quietly" } }],
    });
    expect(await get("messages")).toEqual({ messages: [{ role: "assistant", content: { type: "text", text: "hi" } }] });
    expect(await get("whole")).toEqual({ messages: [], extra: 1 });
    expect(await get("dyn", { a: "1" })).toMatchObject({ messages: [{ content: { text: '{"a":"1"}' } }] });
  });

  it("may ask", async () => {
    const context = contextOf({ client: { capabilities: { elicitation: {} } } });
    const { result } = await outcome(server, "prompts/get", { name: "asks" }, context, ({ ask }) => ask.answer({ action: "accept" }));
    expect(result).toMatchObject({ messages: [{ content: { text: "accept" } }] });
  });

  it.each([
    ["greet", {}, "arguments.who: is required"],
    ["greet", { who: 7 }, "arguments.who: must be string"],
    ["greet", [], "arguments: must be object"],
    ["hostile", {}, "arguments.constructor: is required"],
    ["nobody", {}, "unknown prompt: nobody"],
  ])("%s refuses %j", async (name, args, message) => {
    const fault = await faultOf(server, "prompts/get", { name, arguments: args });
    expect([fault.code, fault.message]).toEqual(["invalid-params", message]);
  });

  it("take hostile names as names", async () => {
    expect(await get("hostile", { constructor: "mine" })).toMatchObject({ messages: [{ content: { text: "mine" } }] });
    const hostile = JSON.parse('{"__proto__":"x"}') as JsonObject;
    expect(await get("dyn", hostile)).toMatchObject({ messages: [{ content: { text: '{"__proto__":"x"}' } }] });
    expect(() => server.prompt("greet", {}, () => "x")).toThrow(Fault);
  });
});

describe("completion", () => {
  const greet = { type: "ref/prompt", name: "greet" };

  it("gives at most 100 values, and how many there are", async () => {
    expect(await complete(greet, "who")).toEqual({ values: words.slice(0, 100), total: 250, hasMore: true });
    expect(await complete(greet, "who", "w24")).toEqual({
      values: words.filter((word) => word.startsWith("w24")),
      total: 11,
      hasMore: false,
    });
    expect(await complete(greet, "exact")).toEqual({ values: ["e"], total: 9, hasMore: true });
  });

  it("makes one more than it gives of a sequence without end", async () => {
    expect(await complete(greet, "lazy")).toMatchObject({ hasMore: true });
    expect(made).toBe(101);
  });

  it("passes on the other arguments, and knows templates", async () => {
    expect(await complete(greet, "how", "loudly", { who: "Ada" })).toMatchObject({ values: ["loudly Ada"] });
    expect(await complete({ type: "ref/resource", uri: "t://{id}/{part}" }, "id")).toMatchObject({ values: ["7"] });
  });

  it("gives nothing where nothing completes", async () => {
    const none = { values: [], total: 0, hasMore: false };
    expect(await complete(greet, "plain")).toEqual(none);
    expect(await complete(greet, "constructor")).toEqual(none);
    expect(await complete({ type: "ref/resource", uri: "t://{id}/{part}" }, "part")).toEqual(none);
  });

  it.each([
    [{ ref: { type: "ref/prompt", name: "nobody" }, argument: { name: "a", value: "" } }, "nobody"],
    [{ ref: { type: "ref/resource", uri: "x://" }, argument: { name: "a", value: "" } }, "x://"],
    [{ ref: greet }, "params.argument"],
    [{ argument: { name: "a", value: "" } }, "params.ref"],
  ])("refuses %j", async (params, message) => {
    const fault = await faultOf(server, "completion/complete", params);
    expect(fault.code).toBe("invalid-params");
    expect(fault.message).toContain(message);
  });

  it("asks who completes the rest", async () => {
    const other = createServer({ name: "demo", version: "1" }).completion((ref, argument) =>
      ref.type === "ref/prompt" && ref.name === "mine" ? [`${argument.name}=${argument.value}`] : undefined,
    );
    const { result } = await outcome(other, "completion/complete", {
      ref: { type: "ref/prompt", name: "mine" },
      argument: { name: "a", value: "b" },
    });
    expect(result).toEqual({ completion: { values: ["a=b"], total: 1, hasMore: false } });
  });
});
