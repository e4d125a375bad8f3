import { describe, expect, it } from "vitest";
import { distance, nearest } from "../../src/cli/args/nearest.js";
import { row, wrapLines } from "../../src/cli/out/wrap.js";
import { requiredNames, typedArguments } from "../../src/cli/values/arguments.js";

const schema = {
  type: "object",
  $defs: { size: { type: "integer" }, loop: { $ref: "#/$defs/loop" } },
  properties: {
    s: { type: "string" },
    n: { type: "number" },
    i: { type: "integer" },
    b: { type: "boolean" },
    z: { type: "null" },
    o: { type: "object" },
    list: { type: "array", items: { type: "integer" } },
    any: {},
    maybe: { type: ["string", "null"] },
    either: { anyOf: [{ type: "number" }, { type: "boolean" }] },
    pick: { enum: ["a", 1, null] },
    one: { oneOf: [{ const: "x" }, { const: 2 }] },
    ref: { $ref: "#/$defs/size" },
    loop: { $ref: "#/$defs/loop" },
  },
};

it("what has a default need not be given, even where the schema requires it", () => {
  const properties = { a: { type: "string" }, b: { type: "boolean", default: false }, c: { $ref: "#/$defs/c" } };
  const all = { type: "object", properties, required: ["a", "b", "c"], $defs: { c: { type: "integer", default: 1 } } };
  expect(requiredNames(all)).toEqual(["a"]);
});

describe("key=value", () => {
  it.each([
    ["s=5", { s: "5" }],
    ["s=", { s: "" }],
    ["s=a=b", { s: "a=b" }],
    ["n=-1.5e3", { n: -1500 }],
    ["i=7", { i: 7 }],
    ["b=true", { b: true }],
    ["z=null", { z: null }],
    ['o={"a":[1]}', { o: { a: [1] } }],
    ["list=[1,2]", { list: [1, 2] }],
    ["list=3", { list: [3] }],
    ["any=5", { any: 5 }],
    ["any=text", { any: "text" }],
    ["maybe=null", { maybe: null }],
    ["maybe=5", { maybe: "5" }],
    ["either=false", { either: false }],
    ["either=2", { either: 2 }],
    ["pick=1", { pick: 1 }],
    ["pick=null", { pick: null }],
    ["one=2", { one: 2 }],
    ["ref=4", { ref: 4 }],
    ["loop=x", { loop: "x" }],
  ])("%s", (word, args) => {
    expect(typedArguments([word], schema)).toEqual(args);
  });

  it.each([
    ["n=1x", 'n: expected number, got "1x"'],
    ["n=", 'n: expected number, got ""'],
    ["n=Infinity", 'n: expected number, got "Infinity"'],
    ["i=1.5", 'i: expected integer, got "1.5"'],
    ["i=9007199254740993", 'i: expected integer, got "9007199254740993"'],
    ["b=yes", 'b: expected boolean, got "yes"'],
    ["o=[1]", 'o: expected object, got "[1]"'],
    ["list=[1", 'list: expected array, got "[1"'],
    ["list=x", 'list: expected array of integer, got "x"'],
    ["pick=b", 'pick: expected one of a, 1, null, got "b"'],
    ["lst=1", "the tool has no argument lst; did you mean list?"],
  ])("%s does not fit", (word, message) => {
    expect(() => typedArguments([word], schema)).toThrow(message);
  });

  it("repeats a key for the elements of an array", () => {
    expect(typedArguments(["list=1", "s=x", "list=2"], schema)).toEqual({ list: [1, 2], s: "x" });
    expect(() => typedArguments(["i=1", "i=2"], schema)).toThrow('i: expected integer, once, got ["1","2"]');
  });

  it("takes any name where the schema is open, and every name as data", () => {
    expect(typedArguments(["x=1", "y=z"], { type: "object" })).toEqual({ x: 1, y: "z" });
    expect(typedArguments(["x=1"], { properties: { a: {} }, additionalProperties: { type: "string" } })).toEqual({ x: "1" });
    const args = typedArguments(["__proto__=1"], { type: "object" });
    expect(Object.keys(args)).toEqual(["__proto__"]);
  });
});

describe("near misses", () => {
  it("count insertions, deletions, changes and swaps", () => {
    expect([distance("", "abc"), distance("abc", "acb"), distance("kitten", "sitting"), distance("same", "same")]).toEqual([3, 1, 3, 0]);
    expect(nearest("tolos", ["call", "tools", "tool"])).toBe("tools");
    expect(nearest("xyz", ["call", "tools"])).toBeUndefined();
  });
});

describe("wrapping", () => {
  it("breaks at spaces, and words that are too long between characters", () => {
    expect(wrapLines("aa bb ccc", 5)).toEqual(["aa bb", "ccc"]);
    expect(wrapLines("abcdefgh", 3)).toEqual(["abc", "def", "gh"]);
    expect(wrapLines("ab🎈c", 3)).toEqual(["ab", "🎈c"]);
    expect(row("a-name-that-is-long", "about", { left: 4, width: 40 })).toBe("  a-name-that-is-long\n        about");
  });
});
