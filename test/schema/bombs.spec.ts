import { create, createFileRegistry } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { ExactNumber, type Fault, schemaLimits } from "../../src/core/index.js";
import { catalogueTokens, catalogueWriter, convertTool, messageSchema, schemaCodec } from "../../src/schema/index.js";

const convert = (inputSchema: unknown): ReturnType<typeof convertTool> => convertTool({ name: "t", inputSchema }, { package: "t.v1" });
const from = <T>(count: number, make: (index: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)));
const props = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

describe("a schema that is small and costs much", () => {
  it.each<[name: string, schema: object, outcome: RegExp]>([
    [
      "a chain of references",
      props({ v: { $ref: "#/$defs/d0" } }, { $defs: from(12_000, (index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]) }),
      /refers to/,
    ],
    [
      "a chain of objects",
      props(
        { v: { $ref: "#/$defs/d0" } },
        { $defs: from(9_000, (index) => [`d${index}`, props({ n: { $ref: `#/$defs/d${(index + 1) % 9_000}` } })]) },
      ),
      /refers to a schema through more than 128 others/,
    ],
    [
      "a chain of allOf",
      props(
        { v: { $ref: "#/$defs/d0" } },
        { $defs: from(9_000, (index) => [`d${index}`, { allOf: [{ $ref: `#/$defs/d${(index + 1) % 9_000}` }] }]) },
      ),
      /refers to a schema through more than 128 others/,
    ],
    [
      "two long enums that both count",
      props({
        v: {
          allOf: [
            { enum: Array.from({ length: 20_000 }, (_, at) => `a${at}`) },
            { enum: Array.from({ length: 20_000 }, (_, at) => `b${at}`) },
          ],
        },
      }),
      /message/,
    ],
    ["10,000 names that JSON names cannot be", props(from(10_000, (index) => [`[${index}]`, true])), /message/],
    [
      "8,000 maps",
      props(from(8_000, (index) => [`m${index}`, { type: "object", additionalProperties: { type: "string" } }])),
      /map<string, string> m7999 /,
    ],
    ["6,000 messages", props(from(6_000, (index) => [`m${index}`, props({ a: true })])), /message M5999 /],
    [
      "long names within an expression",
      props({
        v: {
          anyOf: [{ type: "string" }, props({ ["x".repeat(500_000)]: props(from(5_000, (index) => [`p${index}`, { type: "string" }])) })],
        },
      }),
      /message/,
    ],
    [
      "a large object merged a thousand times",
      props(
        { v: { allOf: Array.from({ length: 2_000 }, (_, at) => ({ $ref: `#/$defs/${"AB"[at % 2]}` })) } },
        { $defs: from(2, (at) => ["AB"[at] as string, props(from(3_000, (index) => [`p${index}`, { minLength: at }]))]) },
      ),
      /too costly to convert/,
    ],
    [
      "thousands of unions that leave something to ajv",
      props(from(5_000, (index) => [`p${index}`, { anyOf: [{ not: {} }, { type: "string" }] }])),
      /message/,
    ],
    [
      "references that fan out",
      props(
        { v: { $ref: "#/$defs/d0" } },
        {
          $defs: from(30, (index) => [
            `d${index}`,
            { anyOf: Array.from({ length: 200 }, () => ({ $ref: `#/$defs/d${(index + 1) % 30}` })) },
          ]),
        },
      ),
      /message|too costly/,
    ],
  ])("%s", (_, schema, outcome) => {
    let text: string;
    try {
      text = convert(schema).text();
    } catch (error) {
      expect(error).toMatchObject({ name: "Fault", code: "invalid-params", data: { reason: "schema" } });
      text = (error as Error).message;
      const limit = /through more than 128 others/.test(text) ? "schemaDepth" : /too costly/.test(text) ? "schemaSteps" : undefined;
      expect((error as Fault).data).toMatchObject(limit === undefined ? {} : { limit, max: schemaLimits[limit] });
    }
    expect(text).toMatch(outcome);
  });

  it("contains itself, as an object of JavaScript can", () => {
    const schema: Record<string, unknown> = { type: "object" };
    schema["properties"] = { v: schema };
    expect(() => convert(schema)).toThrow(/nested more than 128 levels/);
  });

  it("is counted in tokens, whatever its references", () => {
    const fan = from(30, (index) => [
      `d${index}`,
      { anyOf: Array.from({ length: 200 }, () => ({ $ref: `#/$defs/d${(index + 1) % 30}` })) },
    ]);
    const chain = from(5_000, (index) => [`d${index}`, props({ n: { $ref: `#/$defs/d${index + 1}` } })]);
    let deep: object = { type: "string" };
    for (let level = 0; level < 2_000; level++) deep = { type: "array", items: deep };
    const tools = [fan, chain].map(($defs, index) => ({ name: `t${index}`, inputSchema: props({ v: { $ref: "#/$defs/d0" } }, { $defs }) }));
    const counted = catalogueTokens([...tools, { name: "deep", inputSchema: props({ v: deep }) }], "s", (text) => text.length);
    expect(counted.tokens.signatures).toBeLessThan(100_000);
    const odd = { name: "odd", inputSchema: props({ v: { const: new ExactNumber("1e400") } }, { $defs: { x: {} } }) };
    expect(catalogueTokens([odd], "s", (text) => text.length).tokens.signatures).toBeGreaterThan(0);
  });
});

describe("a descriptor that is small and costs much", () => {
  const messages = (count: number, fields: number): ReturnType<typeof createFileRegistry> =>
    createFileRegistry(
      create(FileDescriptorProtoSchema, {
        name: "b.proto",
        package: "b",
        syntax: "proto3",
        messageType: Array.from({ length: count }, (_, index) => ({
          name: `M${index}`,
          field:
            index + 1 === count
              ? []
              : Array.from({ length: fields }, (__, at) => ({
                  name: `f${at}`,
                  jsonName: `f${at}`,
                  number: at + 1,
                  label: 1,
                  type: 11,
                  typeName: `.b.M${index + 1}`,
                })),
        })),
      }),
      () => undefined,
    );
  const first = (registry: ReturnType<typeof createFileRegistry>): NonNullable<ReturnType<typeof registry.getMessage>> => {
    const message = registry.getMessage("b.M0");
    if (message === undefined) throw new Error("no message");
    return message;
  };

  it("is refused where it makes too large a JSON Schema, with the code for schemas", () => {
    for (const [count, fields, limit] of [
      [40, 2, "builtFields"],
      [5_000, 1, "builtDepth"],
      [4, 1_000, "builtFields"],
    ] as const)
      expect(() => messageSchema(first(messages(count, fields)))).toThrow(
        expect.objectContaining({
          name: "Fault",
          rpcCode: -33000,
          message: expect.stringMatching(/too (?:large|deep)/),
          data: { reason: "descriptors", limit, max: schemaLimits[limit] },
        }),
      );
    expect(() => messageSchema(first(messages(4, 3)), { depth: 3 })).not.toThrow();
  });

  it("is a message in a million pieces that is read in one go", () => {
    const codec = schemaCodec(convert(props({ a: props({ b: { type: "string" } }) })).input);
    const piece = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(new BinaryWriter().tag(1, 2).string("xyz").finish()).finish();
    const bytes = new Uint8Array(piece.length * 400_000);
    for (let at = 0; at < bytes.length; at += piece.length) bytes.set(piece, at);
    expect(codec.decode(bytes)).toEqual({ a: { b: "xyz" } });
  });
});

describe("a tool of a stranger", () => {
  const writer = catalogueWriter({ package: "a.v1" });
  const inputSchema = { type: "object" };

  it("without a name, or with one that is there already, is refused", () => {
    for (const tool of [{}, { name: 5 }, { name: null }])
      expect(() => writer.add({ ...tool, inputSchema } as never)).toThrow(/has no name/);
    writer.add({ name: "twice", inputSchema });
    expect(() => writer.add({ name: "twice", inputSchema })).toThrow(/is there twice/);
  });

  it("has a file and messages of its own, whatever its name becomes", () => {
    const names = ["a-b", "a_b", "aB", "A B", "ab", "日本", "東京", "", "con", "x".repeat(2_000), `${"x".repeat(2_000)}y`];
    const paths = names.map((name) => writer.add({ name, inputSchema }).path);
    expect(new Set(paths.map((path) => path.replaceAll("_", "").toLowerCase())).size).toBe(names.length);
    for (const path of paths) expect(path).toMatch(/^a\/v1\/[a-z][a-z0-9_]{0,110}\.proto$/);
  });

  it("has comments that stay comments", () => {
    const odd = "a\r\nb\u0000\u2028c*/\vd\ud800\u202e";
    const text = writer.add({ name: odd, description: odd, inputSchema }).text();
    for (const line of text.split(/[\n\r\v\u2028]/))
      expect(line).toMatch(/^(?:\/\/.*|syntax .*|package .*|import .*|message \w+ \{\}?|\s.*|\}|c\*\/.*|)$/);
    expect(text.replace(/[\n\t]/g, "")).not.toMatch(/\p{C}/u);
    expect(writer.add({ name: "five", description: 5 as never, inputSchema }).text()).toContain("message FiveRequest");
  });
});
