import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { catalogueWriter, convertTool, parseLock, schemaCodec } from "../../src/schema/index.js";

const convert = (inputSchema: unknown): ReturnType<typeof convertTool> => convertTool({ name: "t", inputSchema }, { package: "t.v1" });
const fault = (message: RegExp, data: object = {}): unknown =>
  expect.objectContaining({
    name: "Fault",
    code: "invalid-params",
    message: expect.stringMatching(message),
    data: expect.objectContaining(data),
  });
const nested = (levels: number, wrap: (inner: object) => object): object => {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
};

describe("a schema of a stranger", () => {
  it("32: that refers to a URL is refused, and nothing is fetched", async () => {
    const asked: string[] = [];
    const http = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end('{"type":"object"}');
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    for (const schema of [
      { $ref: `${url}/a` },
      { type: "object", properties: { a: { $ref: `${url}/b#/x` } } },
      { $id: `${url}/c`, type: "object", properties: { a: { $ref: "other.json" } } },
      { type: "object", properties: { a: { $dynamicRef: `${url}/d` } } },
      { type: "object", properties: { a: { anyOf: [{ type: "string" }, { $ref: "file:///etc/passwd" }] } } },
    ])
      expect(() => convert(schema)).toThrow(
        fault(/the tool "t" cannot be converted: the schema.* refers to .*never fetched/, { reason: "schema" }),
      );
    // Its own address is no other document.
    expect(
      convert({
        $id: `${url}/e`,
        type: "object",
        properties: { a: { $ref: `${url}/e#/$defs/A` } },
        $defs: { A: { type: "string" } },
      }).text(),
    ).toContain("optional string a = 1;");
    expect(asked).toEqual([]);
  });

  it("with a reference to nowhere is refused", () => {
    expect(() => convert({ type: "object", properties: { a: { $ref: "#/$defs/Gone" } } })).toThrow(
      fault(/refers to "#\/\$defs\/Gone", which is not in it/, { pointer: "/properties/a" }),
    );
    expect(() => convert({ $ref: 5 })).toThrow(fault(/\$ref that is no text/));
    expect(() => convert({ $ref: "#%E0%A4%A" })).toThrow(fault(/no URI|not in it/));
  });

  it("33: that makes very many schemas out of few is refused in time", () => {
    const bomb: Record<string, object> = { level0: { type: "object", properties: { x: { type: "string" } } } };
    for (let level = 1; level < 40; level++)
      bomb[`level${level}`] = { allOf: [{ $ref: `#/$defs/level${level - 1}` }, { $ref: `#/$defs/level${level - 1}` }] };
    expect(() => convert({ $ref: "#/$defs/level39", $defs: bomb })).toThrow(
      fault(/too costly to convert/, { limit: "schemaSteps", max: 50_000 }),
    );
    const unions: Record<string, object> = { level0: { type: "string" } };
    for (let level = 1; level < 40; level++)
      unions[`level${level}`] = {
        anyOf: [{ $ref: `#/$defs/level${level - 1}` }, { type: "array", items: { $ref: `#/$defs/level${level - 1}` } }],
      };
    // What would take too many words is residual, or too costly: it ends either way.
    try {
      expect(
        convert({ type: "object", properties: { a: { $ref: "#/$defs/level39" } }, $defs: unions }).input.residual.length,
      ).toBeGreaterThan(0);
    } catch (error) {
      expect(error).toEqual(fault(/too costly to convert/));
    }
  });

  it("that goes round in circles ends", () => {
    for (const schema of [
      { $ref: "#" },
      { type: "object", properties: { a: { $ref: "#/properties/a" } } },
      { allOf: [{ $ref: "#" }] },
      { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } },
      { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] } } },
      { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "array", items: { $ref: "#/$defs/A" } } } },
      { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { allOf: [{ $ref: "#/$defs/A" }, { type: "object" }] } } },
    ]) {
      let text: string;
      try {
        text = convert(schema).text();
      } catch (error) {
        text = (error as Error).name;
      }
      expect(text).toMatch(/message TRequest|Fault/);
    }
  });

  it("that is too deep, too large or too long is refused", () => {
    expect(() => convert(nested(200, (inner) => ({ type: "object", properties: { a: inner } })))).toThrow(
      fault(/nested more than 128 levels deep/, { limit: "schemaDepth", max: 128 }),
    );
    expect(() => convert(nested(100_000, (inner) => ({ items: inner })))).toThrow(fault(/nested more than/));
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, { type: "string" }]));
    expect(() => convert({ type: "object", properties: wide })).toThrow(
      fault(/more than 50000 values/, { limit: "schemaValues", max: 50_000 }),
    );
    expect(() => convert({ type: "object", description: "x".repeat(3_000_000) })).toThrow(
      fault(/more than 2000000 characters/, { limit: "schemaChars", max: 2_000_000 }),
    );
  });

  it("with a huge enum leaves it to ajv", async () => {
    const { input } = convert({
      type: "object",
      properties: { a: { type: "string", enum: Array.from({ length: 5_000 }, (_, index) => `v${index}`) } },
    });
    expect(input.residual).toEqual([{ pointer: "/properties/a", keyword: "enum" }]);
    expect(await schemaCodec(input).check({ a: "v4999" })).toEqual({ value: { a: "v4999" } });
    expect(await schemaCodec(input).check({ a: "no" })).toEqual({
      problem: expect.stringContaining("value.a: must be equal to one of the allowed values"),
    });
  });

  it("33: with a catastrophic pattern is checked in linear time, whatever the engine", async () => {
    const { input } = convert({
      type: "object",
      properties: {
        a: { type: "string", pattern: "^(a+)+$" },
        b: { type: "string", pattern: "^(?=(x+)+$)x" },
        c: { type: "string", pattern: "(a)\\1" },
      },
    });
    // RE2 runs the first in linear time, and has no words for the others.
    expect(input.residual).toEqual([
      { pointer: "/properties/b", keyword: "pattern" },
      { pointer: "/properties/c", keyword: "pattern" },
    ]);
    const { input: safe } = convert({
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" }, b: { type: "string", pattern: "^(?=(x+)+$)x" } },
    });
    const codec = schemaCodec(safe);
    expect(await codec.check({ a: `${"a".repeat(50)}!`, b: `${"x".repeat(50)}!` })).toEqual({
      problem: expect.stringContaining("must match pattern"),
    });
    await expect(schemaCodec(input).check({ c: "aa" })).rejects.toThrow(/cannot be run in bounded time/);
  });

  it("that is no schema is refused, or says nothing", () => {
    for (const schema of [null, 5, "x", [], true]) expect(() => convert(schema)).toThrow(fault(/has to be an object/));
    for (const schema of [
      { type: 5 },
      { properties: [] },
      { type: "object", properties: { a: 5, b: null, c: [] } },
      { type: "object", required: "a" },
      { type: "wrong" },
      { enum: 3 },
      { anyOf: {} },
      { type: "object", properties: { a: { type: "string", pattern: "(", minLength: -1, maxLength: "x" } } },
    ])
      expect(convert(schema).text()).toContain("message TRequest");
  });
});

describe("a lock file of a stranger", () => {
  it.each([
    ["", /not JSON/],
    ["[]", /form that this version does not know/],
    ['{"version":2,"package":"a","tools":{}}', /form that this version/],
    ['{"version":1,"package":"a","tools":{"t":{"file":"../../x","input":{}}}}', /broken at the tool "t"/],
    [
      '{"version":1,"package":"a","tools":{"t":{"file":"x","input":{"":{"name":"X","fields":{"a":{"number":"1"}}}}}}}',
      /broken at the tool "t"/,
    ],
    ...[
      '"name":"x y","fields":{}',
      '"name":"X","fields":{"a":{"number":0,"name":"a","type":"string"}}',
      '"name":"X","fields":{"a":{"number":1,"name":"a = 1; //","type":"string"}}',
      '"name":"X","fields":{},"reserved":{"numbers":["1"],"names":[]}',
      '"name":"X","fields":{},"overflow":-1',
    ].map((message): [string, RegExp] => [
      `{"version":1,"package":"a","tools":{"t":{"file":"x","input":{"":{${message}}}}}}`,
      /broken at the tool "t"/,
    ]),
  ])("is refused: %s", (text, message) => expect(() => parseLock(text)).toThrow(message));

  it("makes no path out of a name or a package", () => {
    expect(() => catalogueWriter({ package: "../up" })).toThrow(/not a protobuf package/);
    const writer = catalogueWriter({ package: "a.v1" });
    for (const name of ["../../etc/passwd", "/", "..", "C:\\x", "a\0b"])
      expect(writer.add({ name, inputSchema: { type: "object" } }).path).toMatch(/^a\/v1\/[a-z0-9_]+\.proto$/);
  });
});
