import { describe, expect, it } from "vitest";
import { contextOf, faultOf, nextOf, outcome, until } from "../../../test/calls.js";
import { type Ask, ask, askAll, createServer, elicit, Fault, type JsonObject, type Replies, type Reply, roots, sample } from "../index.js";

const all = { client: { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } } };
const form = { message: "Who?", requestedSchema: { type: "object" } };

const asks: string[] = [];
const server = createServer({ name: "demo", version: "1" })
  .tool("form", {}, async function* () {
    const { action, content } = yield* elicit(form);
    return `${action} ${JSON.stringify(content)}`;
  })
  .tool("url", {}, async function* () {
    return (yield* elicit({ mode: "url", message: "Go", url: "https://a.test" })).action;
  })
  .tool("brave", {}, async function* () {
    try {
      yield* sample({ messages: [], maxTokens: 5 });
      return "sampled";
    } catch (error) {
      return `caught ${(error as Fault).code}`;
    }
  })
  .tool("vendor", {}, async function* () {
    return JSON.stringify(yield* ask("vendor/ask", { a: 1 }, { onProgress: (params) => asks.push(JSON.stringify(params)) }));
  })
  .tool("many", {}, async function* () {
    const [first, { roots: found }] = yield* askAll([elicit(form), roots()]);
    const second = yield* elicit(form);
    return `${first.action} ${found.length} ${second.action}`;
  })
  .tool("closing", {}, async function* () {
    try {
      yield* elicit(form);
      return "answered";
    } finally {
      asks.push("closed");
    }
  });

const open = (name: string): Replies => server.call({ method: "tools/call", params: { name } }, contextOf(all));
const asked = (reply: Reply): Ask => {
  if (reply.kind !== "ask") throw new Error(`not an ask: ${reply.kind}`);
  return reply.ask;
};

describe("an ask", () => {
  it("waits for its answer inside the next next()", async () => {
    const replies = open("form");
    const one = asked(await nextOf(replies));
    expect(one).toMatchObject({
      key: "ask-1",
      origin: "stated",
      wantsProgress: false,
      request: { method: "elicitation/create", params: form },
    });
    let settled = false;
    const pending = nextOf(replies).finally(() => (settled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    one.answer({ action: "accept", content: { name: "Ada" } });
    one.answer({ action: "decline" });
    one.refuse(new Fault("internal", "too late"));
    expect(await pending).toEqual({ kind: "result", value: { content: [{ type: "text", text: 'accept {"name":"Ada"}' }] } });
    expect(one.cancel.fired).toBe(false);
  });

  it("answered before the next next() is not lost", async () => {
    const replies = open("form");
    asked(await nextOf(replies)).answer({ action: "decline" });
    expect(await nextOf(replies)).toMatchObject({ value: { content: [{ text: "decline undefined" }] } });
  });

  it("refused is thrown where it was asked, and passes on if nobody catches it", async () => {
    const refusal = new Fault("application", "User rejected", { rpcCode: -1, data: { a: 1 } });
    const caught = await outcome(server, "tools/call", { name: "brave" }, contextOf(all), ({ ask: one }) => one.refuse(refusal));
    expect(caught.result).toMatchObject({ content: [{ text: "caught application" }] });
    const replies = open("form");
    asked(await nextOf(replies)).refuse(refusal);
    await expect(replies.next()).rejects.toBe(refusal);
  });

  it("tells of progress to who wants it, while it is open", async () => {
    asks.length = 0;
    const replies = open("vendor");
    const one = asked(await nextOf(replies));
    expect(one.wantsProgress).toBe(true);
    one.progress({ progress: 1 });
    one.answer({ b: 2 });
    one.progress({ progress: 2 });
    expect(await nextOf(replies)).toMatchObject({ value: { content: [{ text: '{"b":2}' }] } });
    expect(asks).toEqual(['{"progress":1}']);
  });
});

describe("capabilities", () => {
  const without = async (name: string, capabilities: JsonObject): Promise<Fault> =>
    faultOf(server, "tools/call", { name }, contextOf({ client: { capabilities } }));

  it.each([
    ["form", {}, { elicitation: {} }],
    ["form", { elicitation: { url: {} } }, { elicitation: {} }],
    ["url", { elicitation: {} }, { elicitation: { url: {} } }],
    ["url", { elicitation: { form: {} } }, { elicitation: { url: {} } }],
  ])("%s is not asked of a client with %j", async (name, capabilities, requiredCapabilities) => {
    expect(await without(name, capabilities)).toMatchObject({ code: "missing-capability", data: { requiredCapabilities } });
  });

  it("that lack can be caught", async () => {
    const { replies, result } = await outcome(server, "tools/call", { name: "brave" });
    expect(replies).toEqual([]);
    expect(result).toMatchObject({ content: [{ text: "caught missing-capability" }] });
  });

  it.each([
    ["form", { elicitation: {} }],
    ["url", { elicitation: { url: {} } }],
    ["vendor", {}],
  ])("%s is asked of a client with %j", async (name, capabilities) => {
    const replies = server.call({ method: "tools/call", params: { name } }, contextOf({ client: { capabilities } }));
    expect((await nextOf(replies)).kind).toBe("ask");
    await replies.return();
  });
});

describe("several asks", () => {
  it("are open together, and their keys differ within the call", async () => {
    const replies = open("many");
    const [one, two] = [asked(await nextOf(replies)), asked(await nextOf(replies))];
    const pending = nextOf(replies);
    two.answer({ roots: [{ uri: "file:///a" }] });
    one.answer({ action: "accept" });
    const three = asked(await pending);
    expect([one.key, two.key, three.key]).toEqual(["ask-1", "ask-2", "ask-3"]);
    three.answer({ action: "cancel" });
    expect(await nextOf(replies)).toMatchObject({ value: { content: [{ text: "accept 1 cancel" }] } });
  });

  it("are withdrawn when one of them is refused", async () => {
    const replies = open("many");
    const [one, two] = [asked(await nextOf(replies)), asked(await nextOf(replies))];
    one.refuse(new Fault("denied", "no"));
    await expect(replies.next()).rejects.toMatchObject({ code: "denied" });
    expect(one.cancel.fired).toBe(false);
    expect(two.cancel.fired).toBe(true);
  });
});

describe("an ask is withdrawn", () => {
  it("when the caller leaves, before or during the next next()", async () => {
    for (const during of [false, true]) {
      asks.length = 0;
      const replies = open("closing");
      const one = asked(await nextOf(replies));
      const pending = during ? replies.next() : undefined;
      expect(one.cancel.fired).toBe(false);
      await replies.return();
      expect(one.cancel.fired).toBe(true);
      if (pending !== undefined) expect((await pending).done).toBe(true);
      await until(() => asks.includes("closed"));
    }
  });

  it("when the call is cancelled", async () => {
    const context = contextOf(all);
    const replies = server.call({ method: "tools/call", params: { name: "closing" } }, context);
    const one = asked(await nextOf(replies));
    const pending = replies.next();
    context.cancel.fire(new Fault("deadline", "too late"));
    await expect(pending).rejects.toMatchObject({ code: "deadline" });
    expect(one.cancel.reason?.code).toBe("deadline");
  });
});
