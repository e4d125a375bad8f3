import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { ExactNumber, jsonText } from "../../src/core/index.js";
import {
  convertTool,
  descriptorSet,
  messageCodec,
  messageSchema,
  readDescriptorSet,
  schemaCodec,
  type ValueCodec,
} from "../../src/schema/index.js";
import { compare, zero } from "../../tools/schemas/agreement.mjs";
import { fixture, fixtures } from "./support.js";

const codecOf = (inputSchema: object): ValueCodec => schemaCodec(convertTool({ name: "t", inputSchema }, { package: "t.v1" }).input);
const there = (codec: ValueCodec, value: unknown): unknown => codec.decode(codec.encode(value));

describe("values and ajv", () => {
  it.each(fixtures)("agree on what fits, and what fits survives: %s", async (name) => {
    const sums = zero();
    let seed = 7;
    for (const tool of fixture(name)) {
      const { input, output } = convertTool(tool, { package: "t.v1" });
      for (const side of output === undefined ? [input] : [input, output])
        await compare(side as never, `${name}: ${tool.name}`, 60, seed++, sums);
    }
    // The CEL of protovalidate takes a member that is null for absent; nothing else may differ.
    const others = [...sums.exceptions].filter(([, { example }]) => !example.includes("null"));
    expect(others).toEqual([]);
    expect(sums.on / sums.values).toBeGreaterThanOrEqual(0.999);
    expect(sums.survived).toBe(sums.accepted);
  });
});

describe("a value", () => {
  const nullable = codecOf({
    type: "object",
    properties: {
      a: { type: ["string", "null"] },
      b: { type: ["string", "null"] },
      list: { type: "array", items: { type: "string" } },
      map: { type: "object", additionalProperties: { type: "integer" } },
      some: { type: "array", items: { type: "string" }, minItems: 2 },
      pairs: { type: "object", additionalProperties: { type: "integer" }, minProperties: 1 },
      any: {},
    },
    required: ["b"],
    additionalProperties: false,
  });

  it.each([
    { b: null },
    { b: "" },
    { a: null, b: "x" },
    { a: "", b: "x", list: [], map: {} },
    { b: "x", list: [""], map: { "": 0 } },
    { b: "x", any: null },
    { b: "x", any: { deep: [null, [], {}] } },
  ])("keeps null, empty and absent apart: %j", (value) => expect(there(nullable, value)).toEqual(value));

  it.each([
    [{}, /value\.b: is required/],
    [{ b: "x", list: null }, /value\.list: must not be null/],
    [{ b: "x", more: 1 }, /value\.more: must NOT have additional properties/],
    [{ b: 1 }, /value\.b: must be string/],
    [{ b: "\ud800" }, /value\.b: has half a character/],
    [{ b: "x", map: { a: 1.5 } }, /value\.map\.a: must be integer/],
    [[], /value: must be object/],
    [{ b: "x", some: [] }, /value\.some: must NOT have fewer than 2 items/],
    [{ b: "x", pairs: {} }, /value\.pairs: must NOT have fewer than 1 properties/],
  ])("that does not fit is refused: %j", (value, message) => expect(() => nullable.encode(value)).toThrow(message));

  it("has integers of 64 bits, to the digit", () => {
    const codec = codecOf({ type: "object", properties: { id: { type: "integer" }, x: { type: "number" } } });
    for (const text of ["9007199254740993", "-9223372036854775808", "9223372036854775807", "1152921504606846976"])
      expect(jsonText(there(codec, { id: new ExactNumber(text) }))).toBe(`{"id":${text}}`);
    for (const id of [2 ** 52 + 1, 2 ** 60, -9007199254740991000]) expect(jsonText(there(codec, { id }))).toBe(JSON.stringify({ id }));
    expect(jsonText(there(codec, { x: new ExactNumber("-0") }))).toBe('{"x":-0}');
    expect(() => codec.encode({ id: new ExactNumber("9223372036854775808") })).toThrow(/out of the range of int64/);
    expect(() => codec.encode({ x: new ExactNumber("9007199254740993") })).toThrow(/a double cannot hold exactly/);
    expect(() => codec.encode({ id: "3" })).toThrow(/must be integer/);
  });

  it("with members such as __proto__ stays data", () => {
    const value: unknown = JSON.parse('{"b":"x","map":{"__proto__":1,"constructor":2},"any":{"__proto__":{"polluted":true}}}');
    const back = there(nullable, value);
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("is read by generated code and other readers as a message of its descriptor", () => {
    const bytes = nullable.encode({ b: "x", list: ["p", "q"], map: { one: 1 } });
    expect(fromBinary(nullable.message, bytes)).toMatchObject({ b: "x", list: ["p", "q"], map: { one: 1n } });
    expect(nullable.decode(toBinary(nullable.message, fromBinary(nullable.message, bytes)))).toEqual({
      b: "x",
      list: ["p", "q"],
      map: { one: 1 },
    });
  });
});

describe("bytes of a stranger", () => {
  const codec = codecOf({
    type: "object",
    properties: { a: { type: "string" }, n: { type: "integer" }, any: {}, list: { type: "array", items: { type: "integer" } } },
  });

  it("that are no message are refused", () => {
    for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(10, 5, 65), Uint8Array.of(10, 1, 0xff), Uint8Array.of(8, 1), Uint8Array.of(11)])
      expect(() => codec.decode(bytes)).toThrow(expect.objectContaining({ name: "Fault" }));
  });

  const faultOf = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  it("nested thousands of levels deep, or with a million empty values, end in a Fault", () => {
    const field = (number: number, inner: Uint8Array): Uint8Array =>
      new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(inner).finish();
    let deep: Uint8Array = new Uint8Array();
    for (let level = 0; level < 2_000; level++) deep = field(6, field(1, deep));
    const tooDeep = { message: expect.stringContaining("nested more than"), data: { limit: "valueDepth", max: 100 } };
    expect(faultOf(() => codec.decode(field(3, deep)))).toMatchObject(tooDeep);
    const tree = codecOf({ $ref: "#/$defs/Node", $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } } });
    let chain: Uint8Array = new Uint8Array();
    for (let level = 0; level < 2_000; level++) chain = field(1, chain);
    expect(faultOf(() => tree.decode(chain))).toMatchObject(tooDeep);
    const many = new Uint8Array(2_400_000);
    for (let at = 0; at < many.length; at += 2) many[at] = 10;
    expect(faultOf(() => codec.decode(field(3, field(6, many))))).toMatchObject({
      message: expect.stringContaining("too many values"),
      data: { limit: "messageValues", max: 1_000_000 },
    });
  });

  it("are refused where a property is there twice, or smuggled past its field", () => {
    const entry = (name: string, value: Uint8Array): Uint8Array =>
      new BinaryWriter()
        .tag(5, WireType.LengthDelimited)
        .bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 2).bytes(value).finish())
        .finish();
    const text = new BinaryWriter().tag(3, 2).string("x").finish();
    expect(() => codec.decode(entry("n", text))).toThrow(/has a field of its own/);
    expect(() =>
      codec.decode(Buffer.concat([codec.encode({ a: "y" }), entry("a", new BinaryWriter().tag(1, 0).int32(0).finish())])),
    ).toThrow(/there twice/);
  });
});

describe("descriptors alone", () => {
  it("are enough to read and write values, but for null that stands for absent", () => {
    const tools = fixture("unions").map((tool) => convertTool(tool, { package: "test.tools.v1" }));
    const set = readDescriptorSet(descriptorSet(tools));
    const message = set.get("test.tools.v1.DiscriminatedRequest");
    if (message === undefined) throw new Error("no message");
    const value = { shape: { kind: "rect", w: 2 }, shapes: [{ t: "b", of: [{ t: "a", x: "y" }] }], extra: [1] };
    expect(there(messageCodec(message), value)).toEqual(value);
    expect(messageSchema(message)).toMatchObject({
      type: "object",
      required: ["shape"],
      properties: {
        shape: {
          anyOf: [
            { properties: { kind: { const: "circle" } } },
            { properties: { kind: { enum: ["square", "rect"] } }, additionalProperties: false },
          ],
        },
      },
    });
  });

  it("of a message within itself make $defs, or as many levels as are asked for", () => {
    const { input } = convertTool(fixture("nesting")[0] as { name: string }, { package: "t.v1" });
    const schema = messageSchema(input.message);
    expect(schema).toMatchObject({
      properties: { root: { $ref: "#/$defs/Node" }, self: { $ref: "#" } },
      $defs: { Node: { properties: { children: { items: { $ref: "#/$defs/Node" } } } } },
    });
    const flat = JSON.stringify(messageSchema(input.message, { depth: 2 }));
    expect(flat).not.toContain("$ref");
    expect(flat.split('"children"').length - 1).toBeGreaterThan(2);
  });

  it("that are broken are refused", () => {
    expect(() => readDescriptorSet(Uint8Array.of(1, 2, 3))).toThrow(/cannot be read/);
    const lacking = convertTool({ name: "t", inputSchema: { type: "object" } }, { package: "t.v1" });
    lacking.file.dependency.push("nowhere/at_all.proto");
    expect(() => readDescriptorSet(descriptorSet([lacking]))).toThrow(/lacks the file nowhere\/at_all\.proto/);
    lacking.file.dependency[lacking.file.dependency.length - 1] = lacking.file.name;
    expect(() => readDescriptorSet(descriptorSet([lacking]))).toThrow(/imports itself/);
  });
});
