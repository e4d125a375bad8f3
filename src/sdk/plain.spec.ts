import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plain } from "./plain.js";

describe("plain", () => {
  it("makes what JSON makes", () => {
    const date = new Date(0);
    const odd = [undefined, () => 1, Symbol("s"), Number.NaN, -Infinity, date, new Map([[1, 2]]), Object("boxed"), Object(3)];
    for (const value of [...odd, odd, { odd, date, gone: undefined, kept: null, no: false, list: [undefined] }])
      expect(plain(value)).toEqual(JSON.parse(JSON.stringify({ value })).value);
  });

  it("returns what is plain already itself", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON writes -0 as 0.
        expect(plain(value)).toBe(value);
      }),
    );
    const big = { a: [{ b: "x".repeat(10) }], c: { toJSON: "data" } };
    expect(plain(big)).toBe(big);
  });

  it("agrees with JSON on any object", () => {
    fc.assert(
      fc.property(fc.object({ withDate: true, withSparseArray: true, withMap: true, withBoxedValues: true }), (value) => {
        expect(JSON.stringify(plain(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("keeps a member named __proto__", () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "gone": null}') as Record<string, unknown>;
    const made = plain({ ...value, gone: undefined });
    expect(JSON.stringify(made)).toBe('{"__proto__":{"a":1}}');
  });

  it("throws at what is not JSON", () => {
    const loop: Record<string, unknown> = {};
    loop["loop"] = loop;
    expect(() => plain({ n: 1n })).toThrow(TypeError);
    expect(() => plain(loop)).toThrow(TypeError);
  });
});
