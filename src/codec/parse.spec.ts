import { describe, expect, test } from "vitest";
import { envelopeMembers, Fault, type FaultCode, type JsonObject, noParams } from "../core/index.js";
import type { Incoming, IncomingBad } from "./jsonrpc.js";
import { type Line, lineFramer } from "./lines.js";
import { parseLine, parseMessage } from "./parse.js";
import { reserialise } from "./serialise.js";

const limits = { depth: 8 };
const parse = (value: unknown): Incoming => parseMessage(typeof value === "string" ? value : JSON.stringify(value), limits);

/** The members of a message that JSON-RPC does not name. */
function extraOf(message: Incoming): JsonObject | undefined {
  if ("params" in message) return envelopeMembers(message.params);
  if ("value" in message) return envelopeMembers(message.value);
  return "error" in message ? envelopeMembers(message.error) : undefined;
}

function expectBad(
  message: Incoming,
  code: FaultCode,
  ids: { readonly id?: unknown; readonly answers?: unknown; readonly silent?: true } = {},
): IncomingBad {
  expect(message.kind).toBe("bad");
  const { fault, ...rest } = message as IncomingBad;
  expect(fault).toBeInstanceOf(Fault);
  expect({ code: fault.code, ...rest }).toEqual({ code, kind: "bad", ...ids });
  return message as IncomingBad;
}

const v = { jsonrpc: "2.0" };

test("a large result says how many characters it had", () => {
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { text: "a".repeat(50_000) } });
  expect(parseMessage(text, { depth: 64 })).toMatchObject({ kind: "result", size: text.length });
});

describe("messages", () => {
  test("each kind is told apart", () => {
    expect(parse({ ...v, id: 1, method: "ping", params: { a: null } })).toEqual({
      kind: "request",
      id: 1,
      method: "ping",
      params: { a: null },
    });
    expect(parse({ ...v, method: "note", params: {} })).toEqual({ kind: "notification", method: "note", params: {} });
    expect(parse({ ...v, id: "a", result: { x: false } })).toEqual({ kind: "result", id: "a", value: { x: false } });
    const error = { code: -32601, message: "no", data: null, more: [1] };
    expect(parse({ ...v, id: 0, error })).toEqual({ kind: "error", id: 0, error });
    expect(parse({ ...v, id: null, error })).toEqual({ kind: "error", error });
    expect(parse({ ...v, error })).toEqual({ kind: "error", error });
  });

  test.each([1, "1", "", 0, -7, Number.MAX_SAFE_INTEGER, "listen:3"])("the id %j keeps its type", (id) => {
    expect(parse({ ...v, id, method: "ping" })).toMatchObject({ kind: "request", id });
    expect(parse({ ...v, id, result: {} })).toMatchObject({ kind: "result", id });
  });

  test.each(["null", "1.5", "true", "{}", "[1]", "9007199254740993", "1e400"])("%s is no id", (id) => {
    expectBad(parse(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`), "invalid-request");
    expectBad(parse(`{"jsonrpc":"2.0","id":${id},"result":{}}`), "invalid-request", { silent: true });
  });

  test("absent params and empty ones stay apart", () => {
    const absent = parse({ ...v, id: 1, method: "ping" });
    const empty = parse({ ...v, id: 1, method: "ping", params: {} });
    expect(absent.kind === "request" && absent.params === noParams).toBe(true);
    expect(empty.kind === "request" && empty.params !== noParams).toBe(true);
  });

  test("and so do null ones, which have no members either", () => {
    for (const text of ['{"jsonrpc":"2.0","method":"a","params":null}', '{"jsonrpc":"2.0","id":1,"method":"a","params":null,"x":2}']) {
      const message = parse(text) as Exclude<Incoming, IncomingBad>;
      expect("params" in message && Object.keys(message.params)).toEqual([]);
      expect(reserialise(message)).toBe(text);
    }
  });

  test("members that JSON-RPC does not name are kept", () => {
    const extra = { trace: "x", more: { a: 1 } };
    expect(extraOf(parse({ ...v, id: 1, method: "ping", ...extra }))).toMatchObject(extra);
    expect(extraOf(parse({ ...extra, ...v, method: "note", params: {} }))).toEqual(extra);
    expect(extraOf(parse({ ...v, id: 1, result: {}, ...extra, params: 1 }))).toEqual({ ...extra, params: 1 });
    expect(extraOf(parse({ ...v, id: null, error: { code: 1, message: "" }, ...extra }))).toEqual(extra);
    expect(extraOf(parse({ ...v, id: 1, method: "ping" }))).toBeUndefined();
  });

  test("names are exact: no other case, no folding", () => {
    expectBad(parse({ ...v, id: 1, Method: "ping" }), "invalid-request", { id: 1, answers: 1 });
    expectBad(parse({ JSONRPC: "2.0", id: 1, method: "ping" }), "invalid-request", { id: 1 });
    expect(extraOf(parse({ ...v, id: 1, method: "ping", paramſ: { a: 1 } }))).toEqual({ paramſ: { a: 1 } });
    expect(extraOf(parse({ ...v, ID: 1, İd: 2, method: "note" }))).toEqual({ ID: 1, İd: 2 });
    expect(parse('{"jsonrpc":"2.0","\\u0069d":1,"method":"ping"}')).toMatchObject({ kind: "request", id: 1 });
  });

  test("of two members with one name the last counts, everywhere", () => {
    const text =
      '{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"n":1},"params":{"n":2,"n":3},"x":1,"x":2}';
    const message = parse(text);
    expect(message).toMatchObject({ kind: "request", id: 2, method: "b", params: { n: 3 } });
    expect(extraOf(message)).toEqual({ x: 2 });
    expect(parse(reserialise(message as Exclude<Incoming, IncomingBad>))).toEqual(message);
  });

  test("__proto__ and constructor are plain members, and survive", () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":{"__proto__":1}},"__proto__":{"id":7},"constructor":"c"}';
    const message = parse(text);
    if (message.kind !== "request") throw new Error("no request");
    expect(message.id).toBe(1);
    expect(Object.getPrototypeOf(message.params)).toBe(Object.prototype);
    const extra = extraOf(message) ?? {};
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype);
    expect(Object.hasOwn(extra, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(reserialise(message)).toBe(text);
  });

  test("a prototype does not stand in for members that are missing", () => {
    expectBad(parse('{"__proto__":{"jsonrpc":"2.0","method":"ping"},"id":1}'), "invalid-request", { id: 1, answers: 1 });
  });
});

describe("what is bad", () => {
  test.each(["", "{", "nonsense", '{"jsonrpc":"2.0"', "{'a':1}", "\ufeff{}", '{"jsonrpc":"2.0","method":"a"} x'])(
    "%j is not JSON",
    (text) => {
      expectBad(parse(text), "parse");
    },
  );

  test.each(["1", "null", '"text"', "true", "{}", '{"jsonrpc":"2.0"}', "[]"])("%s is not a message", (text) => {
    expectBad(parse(text), "invalid-request");
  });

  test("a broken request is answered by its id, a broken notification never", () => {
    const broken = [
      { jsonrpc: "1.0", method: "a" },
      { jsonrpc: 2, method: "a" },
      { method: "a" },
      { ...v, method: 1 },
      { ...v, method: null },
      { ...v, method: "a", params: 1 },
      { ...v, method: "a", params: "x" },
    ];
    for (const message of broken) {
      // Without so much as the name of a method it may have been meant as a request.
      expectBad(parse(message), "invalid-request", typeof message.method === "string" ? { silent: true } : {});
      expectBad(parse({ ...message, id: "q" }), "invalid-request", { id: "q" });
    }
    expectBad(parse({ ...v, method: "a", params: [1] }), "invalid-params", { silent: true });
    expectBad(parse({ ...v, id: 3, method: "a", params: [] }), "invalid-params", { id: 3 });
  });

  test("a broken answer names the call that it leaves without one, and is never answered", () => {
    const error = { code: 1, message: "m" };
    const broken = [
      { ...v, result: null },
      { ...v, result: 1 },
      { ...v, result: [] },
      { ...v, result: {}, error },
      { ...v, result: null, error },
      { ...v, error: null },
      { ...v, error: "text" },
      { ...v, error: { code: 1 } },
      { ...v, error: { message: "m" } },
      { ...v, error: { code: 1.5, message: "m" } },
      { ...v, error: { code: "1", message: "m" } },
      { ...v, error: { code: 1, message: null } },
      { result: {} },
      { jsonrpc: "1.0", error },
    ];
    for (const message of broken) {
      expectBad(parse(message), "invalid-request", { silent: true });
      expectBad(parse({ ...message, id: 5 }), "invalid-request", { answers: 5 });
    }
    expectBad(parse({ ...v, result: {} }), "invalid-request", { silent: true });
  });

  test("where nobody can tell, the id is given as either's", () => {
    for (const message of [{}, { method: "a", result: {} }, { method: "a", error: { code: 1, message: "" } }]) {
      expectBad(parse({ ...v, id: 5, ...message }), "invalid-request", { id: 5, answers: 5 });
    }
  });

  test("who waits for a line that is no text hears of it, where that can be told", () => {
    const read = (text: string): Incoming => {
      const lines = lineFramer({ maxBytes: 1000 }).push(new Uint8Array(Buffer.from(`${text}\n`, "latin1")));
      return parseLine(lines[0] as Line, limits) as Incoming;
    };
    expectBad(read('{"jsonrpc":"2.0","id":7,"result":{"text":"grün"}}'), "parse", { answers: 7 });
    expectBad(read('{"jsonrpc":"2.0","id":7,"method":"grün"}'), "parse", { id: 7 });
    expectBad(read('{"jsonrpc":"2.0","method":"m","params":{"a":"grün"}}'), "parse", { silent: true });
    expectBad(read('{"jsonrpc":"2.0","id":7,"result":{"text":"grün"'), "parse");
    expectBad(read("grün"), "parse");
  });

  test("a fault of the framer is a bad message in its place", () => {
    const fault = new Fault("parse", "x");
    expect(parseLine({ fault }, limits)).toEqual({ kind: "bad", fault });
    expect(parseLine({ fault, text: "nonsense" }, limits)).toEqual({ kind: "bad", fault });
    expect(parseLine('{"jsonrpc":"2.0","method":"a"}', limits)).toMatchObject({ kind: "notification" });
  });
});

describe("batches", () => {
  test("each element is read by the same rules", () => {
    const batch = parse([
      { ...v, id: 1, method: "a" },
      { ...v, method: "b" },
      { ...v, id: 2, result: {} },
      7,
      [{ ...v, method: "c" }],
      { ...v, id: 9, method: 1 },
    ]);
    if (batch.kind !== "batch") throw new Error("no batch");
    expect(batch.messages.map((message) => message.kind)).toEqual(["request", "notification", "result", "bad", "bad", "bad"]);
    expect(batch.messages[5]).toMatchObject({ id: 9 });
    expect(batch.messages[4]).not.toHaveProperty("id");
  });

  test("one with initialize is refused, by the id of that", () => {
    expectBad(
      parse([
        { ...v, id: 2, method: "ping" },
        { ...v, id: 1, method: "initialize", params: {} },
      ]),
      "invalid-request",
      { id: 1 },
    );
  });

  test("one with too many messages is refused", () => {
    const batch = JSON.stringify(Array(3).fill({ ...v, method: "a" }));
    expect(parseMessage(batch, { depth: 8, batch: 3 }).kind).toBe("batch");
    const { fault } = expectBad(parseMessage(batch, { depth: 8, batch: 2 }), "overload");
    expect(fault.data).toEqual({ limit: "batch", max: 2 });
  });
});

describe("depth", () => {
  /** A request whose text nests `depth` levels, counted as the parser counts them. */
  const nested = (depth: number, open = "[", close = "]"): string =>
    `{"jsonrpc":"2.0","method":"m","params":{"a":${open.repeat(depth - 2)}${close.repeat(depth - 2)}},"id":"deep"}`;

  test("the limit itself passes, one more does not, and the request is still answered", () => {
    expect(parse(nested(8))).toMatchObject({ kind: "request", id: "deep" });
    expect(expectBad(parse(nested(9)), "overload", { id: "deep" }).fault.data).toEqual({ limit: "depth", max: 8 });
  });

  test("brackets in strings and beside each other are no depth", () => {
    const params = { a: '[[[[[[[[[[[[{{{{{{{{{{{{\\"[[[[[[[[', '\\"[[[[[[[[[[[[': "\\\\", b: Array(50).fill([{}, []]) };
    expect(parse({ ...v, id: 1, method: "m", params })).toEqual({ kind: "request", id: 1, method: "m", params });
    const deep = `{"a":"]]]]]]]]]]\\\\","b":${"[".repeat(9)}${"]".repeat(9)}}`;
    expectBad(parse(deep), "overload");
  });

  test("a deep answer fails its call, a deep notification and a deep batch name nobody", () => {
    const result = nested(9).replace('"method":"m","params"', '"result"');
    expectBad(parse(result), "overload", { answers: "deep" });
    expectBad(parse(nested(9).replace(',"id":"deep"', "")), "overload", { silent: true });
    expectBad(parse(`[${nested(9)}]`), "overload");
  });

  test("an id inside what is too deep is not taken for the message's", () => {
    const inner = `${'{"id":7,"a":'.repeat(10)}1${"}".repeat(10)}`;
    expectBad(parse(`{"jsonrpc":"2.0","method":"m","params":${inner}}`), "overload", { silent: true });
    expectBad(parse(`{"jsonrpc":"2.0","id":1,"method":"m","params":${inner},"id":2}`), "overload", { id: 2 });
  });

  test("hostile nesting neither crashes nor takes long", () => {
    for (const depth of [100_000, 1_000_000]) {
      expectBad(parseMessage(nested(depth), { depth: 256 }), "overload", { id: "deep" });
      expectBad(parseMessage(nested(depth, '{"a":', "}"), { depth: 256 }), "overload", { id: "deep" });
      expectBad(parseMessage("[".repeat(depth), { depth: 256 }), "overload");
      expectBad(parseMessage(`{"id":1,"method":"m","a":${"[".repeat(depth)}`, { depth: 256 }), "overload");
      expectBad(parseMessage(`"${'\\"'.repeat(depth)}`, { depth: 256 }), "parse");
      expectBad(parseMessage(`[${'"[",'.repeat(depth / 2)}`, { depth: 256 }), "parse");
    }
  });
});
