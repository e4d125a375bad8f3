import { create, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ResourceSchema } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { type Incoming, type IncomingBad, parseMessage, reserialise, serialise } from "../../src/codec/index.js";
import { listPartForBase } from "../../src/codec/mcpv1/base-parts.js";
import { decodeMessage } from "../../src/codec/mcpv1/index.js";
import { ExactNumber, isObject, jsonText, withNumbers } from "../../src/core/index.js";
import { canonical } from "../support/canonical.js";

const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 40 });
/** Numbers as JSON may spell them: most of them more than a double can hold. */
const number = fc.oneof(
  fc.constantFrom(
    "-0",
    "-0.0",
    "-0e5",
    "-1e-400",
    "1e400",
    "-1E+400",
    "1e308",
    "1e300",
    "9007199254740992",
    "9007199254740993",
    "1e999999999",
  ),
  fc.constantFrom("1234567890123456789", "-1234567890123456789", "9007199254740993.5", "12345678901234567890000e-5", "0.1", "1E5", "1.50"),
  fc.tuple(fc.constantFrom("", "-"), digits).map(([sign, text]) => sign + (text.replace(/^0+/, "") || "0")),
  fc
    .tuple(digits, fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 5 }), fc.integer({ min: -30, max: 30 }))
    .filter(([whole, fraction, exponent]) => Math.abs(Number(`${whole}.${fraction}e${exponent}`)) >= 2 ** 53)
    .map(([whole, fraction, exponent]) => `${whole.replace(/^0+/, "") || "0"}.${fraction}e${exponent}`),
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("1e400", '"1e400"', "\\", '\\"', "-0", "exact-", "number-", "}1e400{"),
);
const name = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toJSON", "text", "0"));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom("null", "true", "false"),
    fc.array(tie("json"), { maxLength: 4 }).map((elements) => `[${elements.join(", ")}]`),
    fc.array(fc.tuple(name, tie("json")), { maxLength: 4 }).map(objectText),
  ),
}));

function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(",")}}`;
}

const object = fc.array(fc.tuple(name, json), { maxLength: 4 }).map(objectText);
const message = fc.oneof(
  fc.tuple(object, json).map(([params, x]) => `{"jsonrpc":"2.0","id":1,"method":"m","params":${params},"x":${x}}`),
  object.map((params) => `{"jsonrpc":"2.0","method":"m","params":${params}}`),
  fc.tuple(object, json).map(([result, params]) => `{"jsonrpc":"2.0","id":"1","result":${result},"params":${params}}`),
  json.map((data) => `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"","data":${data},"more":${data}},"x":${data}}`),
);
const runs = { seed: 20260728, numRuns: 3000 };

function again(given: string): string {
  return reserialise(parseMessage(given, { depth: 64 }) as Exclude<Incoming, IncomingBad>);
}

describe("numbers that a double would change", () => {
  test("keep their text from parse to serialise", () => {
    let exact = 0;
    fc.assert(
      fc.property(message, (given) => {
        const back = again(given);
        expect(canonical(back)).toBe(canonical(given));
        if (canonical(JSON.stringify(JSON.parse(given))) !== canonical(given)) exact++;
      }),
      runs,
    );
    // JSON.parse and JSON.stringify alone fail most of them.
    expect(exact).toBeGreaterThan(1000);
  });

  test("also in a batch, and in a message of more than 2 MiB", () => {
    const one = '{"jsonrpc":"2.0","method":"m","params":{"n":[-0,1e400,1234567890123456789]}}';
    expect(again(`[${one},${one}]`)).toBe(`[${one},${one}]`);
    const large = `{"jsonrpc":"2.0","method":"m","params":{"s":"${"x".repeat(3_000_000)}","n":9007199254740993}}`;
    expect(again(large)).toBe(large);
  });

  test("are left alone where a double holds them", () => {
    const given = '{"jsonrpc":"2.0","method":"m","params":{"n":[9007199254740992,1e300,-18446744073709552000,9007199254740991]}}';
    const parsed = parseMessage(given, { depth: 64 });
    expect(parsed.kind === "notification" && parsed.params["n"]).toEqual([2 ** 53, 1e300, -18446744073709552000, 9007199254740991]);
  });

  test("are not an objects, and no ids", () => {
    expect(isObject(new ExactNumber("1e400"))).toBe(false);
    for (const id of ["9007199254740993", "-0", "1e400"]) {
      expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"m"}`, { depth: 64 })).toMatchObject({ kind: "bad" });
      expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"result":{}}`, { depth: 64 })).toMatchObject({ kind: "bad", silent: true });
    }
  });

  test("are written by jsonText alone, and only if they are numbers", () => {
    const value = { a: new ExactNumber("1e400"), b: [new ExactNumber("-0")], c: "1e400" };
    expect(jsonText(value)).toBe('{"a":1e400,"b":[-0],"c":"1e400"}');
    expect(() => JSON.stringify(value)).toThrow(TypeError);
    expect(() => new ExactNumber('1,"admin":true')).toThrow("not a JSON number");
    expect(serialise({ jsonrpc: "2.0", method: "m", params: value })).toContain('{"a":1e400,"b":[-0],"c":"1e400"}');
  });

  test("are refused by name where there must be a number; -0 is one", () => {
    const minus = withNumbers({ a: [new ExactNumber("-0"), new ExactNumber("-0.0e1")] }, "");
    expect(minus).toEqual({ a: [-0, -0] });
    const deep = { "odd name": [{ id: new ExactNumber("1234567890123456789") }] };
    expect(() => withNumbers(deep, "params")).toThrow(
      'params["odd name"][0].id is the number 1234567890123456789, which JavaScript cannot hold exactly',
    );
    expect(() => withNumbers({ a: new ExactNumber("-1e-400") }, "")).toThrow("a is the number -1e-400");
  });

  test("are named where a tool has one for a name, for a client of the base of mcp.v1", () => {
    const value = { name: new ExactNumber("1e400"), inputSchema: { type: "object" } };
    expect(() => listPartForBase("tools/list", { kind: "item", value })).toThrow(/carry result\.tools\[1e400\]\.name/);
  });

  test("come from a base peer's int64 and double as they are", () => {
    const resource = (size: bigint): string =>
      jsonText(decodeMessage("Resource", toBinary(ResourceSchema, create(ResourceSchema, { uri: "a", name: "b", size }))));
    for (const size of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 53n, 5n, -5n])
      expect(resource(size)).toContain(`"size":${size}`);
    const value = toBinary(ValueSchema, create(ValueSchema, { kind: { case: "numberValue", value: -0 } }));
    const call = Uint8Array.from([
      0x0a,
      1,
      0x78,
      0x12,
      value.length + 7,
      0x0a,
      value.length + 5,
      0x0a,
      1,
      0x61,
      0x12,
      value.length,
      ...value,
    ]);
    expect(jsonText(decodeMessage("CallToolRequest", call))).toContain('{"a":-0}');
  });
});
