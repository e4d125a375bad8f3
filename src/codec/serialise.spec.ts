import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envelopeMembers, Fault, cachedJson as fixedCopy, type JsonObject } from "../core/index.js";
import type { Incoming, IncomingBad, OutgoingResult } from "./jsonrpc.js";
import { parseMessage } from "./parse.js";
import { reserialise, serialise } from "./serialise.js";

const fixed = { seed: 20260728, numRuns: 500 };
const limits = { depth: 256 };
const result = (value: unknown): OutgoingResult => ({ jsonrpc: "2.0", id: 1, result: value as OutgoingResult["result"] });

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("serialise", () => {
  test("is one line, whatever the text holds", () => {
    const text = serialise({ jsonrpc: "2.0", id: "a\nb", method: "m", params: { a: "\r\n\u2028\u2029\ud800" } });
    expect(text).not.toMatch(/[\r\n]/);
    expect(parseMessage(text, limits)).toEqual({ kind: "request", id: "a\nb", method: "m", params: { a: "\r\n\u2028\u2029\ud800" } });
  });

  test("writes every kind, and batches", () => {
    const error = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "no" } } as const;
    expect(serialise(error)).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}');
    expect(serialise([result({}), error])).toBe(`[${serialise(result({}))},${serialise(error)}]`);
    expect(serialise({ jsonrpc: "2.0", method: "note" })).toBe('{"jsonrpc":"2.0","method":"note"}');
  });

  test("writes lists of fixed items as it writes any others", () => {
    const plain = [{ name: "a", text: '"\u2028é' }, { name: "b" }];
    for (const rest of [{}, { nextCursor: "n", gone: undefined, _meta: { a: [] } }]) {
      for (const items of [plain.map(fixedCopy), [fixedCopy(plain[0] as JsonObject), plain[1]]]) {
        const written = serialise(result({ ...rest, tools: items }));
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(result({ ...rest, tools: plain }))));
      }
    }
    expect(faultOf(() => serialise(result({ tools: [fixedCopy({ name: "a" }), { n: 1n }] }))).code).toBe("internal");
  });

  test("refuses what is not JSON", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const value of [undefined, null, [], "text", { n: 1n }, cycle]) {
      expect(faultOf(() => serialise(result(value))).code).toBe("internal");
      expect(faultOf(() => serialise([result(value)])).code).toBe("internal");
    }
    expect(faultOf(() => serialise([])).code).toBe("internal");
  });

  test("what the stack cannot hold is over the limit of depth", () => {
    const endless = { toJSON: (): unknown => endless.toJSON() };
    const fault = faultOf(() => serialise(result({ endless })));
    expect([fault.code, fault.data]).toEqual(["overload", { limit: "depth" }]);
  });
});

/** Names that careless code trips over, beside ordinary ones. */
const name = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "0", "id"),
  fc.string({ maxLength: 5 }),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, 1.5, -1e300),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.integer(),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie("json")), { maxLength: 4 }).map(Object.fromEntries),
  ),
}));
const object = fc.array(fc.tuple(name, json), { maxLength: 5 }).map((members): Record<string, unknown> => Object.fromEntries(members));
const extra = fc.array(
  fc.tuple(
    name.filter((member) => !["id", "jsonrpc", "method", "params", "result", "error"].includes(member)),
    json,
  ),
  { maxLength: 3 },
);
const id = fc.oneof(fc.maxSafeInteger(), fc.string());
const core = fc.oneof(
  fc.record({ id, method: fc.string(), params: object }, { requiredKeys: ["id", "method"] }),
  fc.record({ method: fc.string(), params: object }, { requiredKeys: ["method"] }),
  fc.record({ id, result: object }),
  fc.record({
    id: fc.oneof(id, fc.constant(null)),
    error: fc.tuple(fc.integer(), fc.string(), object).map(([code, message, more]) => ({ ...more, code, message })),
  }),
);
/** A message as members in some order, since order must not matter and names must survive. */
const message = fc
  .tuple(core, extra)
  .map(([known, more]) => [["jsonrpc", "2.0"], ...Object.entries(known), ...more])
  .chain((members) => fc.shuffledSubarray(members, { minLength: members.length }))
  .map((members) => JSON.stringify(Object.fromEntries(members as [string, unknown][])));

/** Members by name, so that only what must be equal is compared; own `__proto__` members show. */
function byName(text: string): string {
  const sort = (value: object): unknown[] => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const value: object = JSON.parse(text);
  return JSON.stringify(Array.isArray(value) ? value.map(sort) : sort(value));
}

describe("what is parsed and written again", () => {
  test("is equal to what came, member by member", () => {
    const kinds = new Set<string>();
    let extras = 0;
    fc.assert(
      fc.property(message, (text) => {
        const parsed = parseMessage(text, limits);
        kinds.add(parsed.kind);
        const inner = "params" in parsed ? parsed.params : "value" in parsed ? parsed.value : "error" in parsed ? parsed.error : {};
        if (envelopeMembers(inner) !== undefined) extras++;
        expect(byName(reserialise(parsed as Exclude<Incoming, IncomingBad>))).toBe(byName(text));
      }),
      fixed,
    );
    expect([...kinds].sort()).toEqual(["error", "notification", "request", "result"]);
    expect(extras).toBeGreaterThan(50);
  });

  test("also in a batch", () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (texts) => {
        const text = `[${texts.join(",")}]`;
        const parsed = parseMessage(text, limits);
        expect(byName(reserialise(parsed as Exclude<Incoming, IncomingBad>))).toBe(byName(text));
      }),
      { ...fixed, numRuns: 100 },
    );
  });

  test("a message that could not be read cannot be written", () => {
    const batch = parseMessage("[1]", limits);
    expect(faultOf(() => reserialise(batch as Exclude<Incoming, IncomingBad>)).code).toBe("internal");
  });

  test("any JSON at all is read without a throw", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(parseMessage(JSON.stringify(value), { depth: 3 }).kind).toBeTypeOf("string");
      }),
      fixed,
    );
  });
});
