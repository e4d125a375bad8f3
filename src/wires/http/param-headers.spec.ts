import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../core/index.js";
import { paramHeaders } from "./param-headers.js";

const object = (properties: Record<string, unknown>): object => ({ type: "object", properties });

describe("annotations of arguments", () => {
  it("are found along properties only", () => {
    const schema = object({
      region: { type: "string", "x-mcp-header": "Region" },
      at: object({ zone: { type: "integer", "x-mcp-header": "Zone" } }),
    });
    expect(paramHeaders(schema)).toEqual([
      { header: "mcp-param-region", path: ["region"] },
      { header: "mcp-param-zone", path: ["at", "zone"] },
    ]);
  });

  it("are none in most schemas", () => {
    expect(paramHeaders(object({ region: { type: "string" } }))).toEqual([]);
  });

  it.each([
    ["an empty name", object({ a: { type: "string", "x-mcp-header": "" } })],
    ["a space", object({ a: { type: "string", "x-mcp-header": "My Region" } })],
    ["a line break", object({ a: { type: "string", "x-mcp-header": "A\r\nB" } })],
    ["a name that is not a string", object({ a: { type: "string", "x-mcp-header": 1 } })],
    ["a name that is a number beyond a double", object({ a: { type: "string", "x-mcp-header": new ExactNumber("1e400") } })],
    ["a number", object({ a: { type: "number", "x-mcp-header": "A" } })],
    ["an object", object({ a: { type: "object", "x-mcp-header": "A" } })],
    ["no type", object({ a: { "x-mcp-header": "A" } })],
    ["two that differ in case", object({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } })],
    ["items of an array", object({ a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } })],
    ["a branch of a choice", { ...object({}), anyOf: [object({ a: { type: "string", "x-mcp-header": "A" } })] }],
    ["a definition", { ...object({}), $defs: { a: { type: "string", "x-mcp-header": "A" } } }],
    ["the root", { type: "object", "x-mcp-header": "A" }],
  ])("are wrong on %s", (_what, schema) => {
    expect(paramHeaders(schema)).toEqual({ invalid: expect.any(String) });
  });
});
