import { array, assert, constantFrom, letrec, oneof, property, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { linearPattern } from "./linear.js";

const texts = string({ unit: constantFrom("a", "b", "c", "_", " ", "\n", "é", "😀", "\ud83d", "0", "-"), maxLength: 9 });

/** Patterns that Unicode mode takes, with every construct but references back. */
const { pattern } = letrec<{ pattern: string; part: string; atom: string }>((tie) => ({
  pattern: oneof(
    { depthSize: "small", withCrossShrink: true },
    array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
    tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `${one}|${other}`),
  ),
  part: oneof(
    { depthSize: "small" },
    tie("atom"),
    constantFrom("^", "$", "\\b", "\\B"),
    tuple(tie("atom"), constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,}", "{0,2}", "{1,3}?")).map((pair) => pair.join("")),
    tuple(constantFrom("(?=", "(?!", "(?<=", "(?<!"), tie("pattern")).map(([look, inner]) => `${look}${inner})`),
  ),
  atom: oneof(
    { depthSize: "small" },
    constantFrom(
      "a",
      "b",
      "é",
      "😀",
      ".",
      "\\w",
      "\\W",
      "\\s",
      "\\S",
      "\\d",
      "\\D",
      "\\n",
      "\\-".slice(1),
      "\\u0061",
      "\\u{1f600}",
      "\\x62",
    ),
    constantFrom(
      "\\ud83d\\ude00",
      "\\ud83d",
      "\\p{L}",
      "\\P{Lu}",
      "\\p{Script=Latin}",
      "[ab]",
      "[^a]",
      "[a-c\\]]",
      "[^\\s\\d]",
      "[\\]\\\\]",
      "[]",
      "[^]",
    ),
    constantFrom("\\cJ", "\\0", "\\/", "\\.", "\\{"),
    tie("pattern").map((inner) => `(${inner})`),
    tie("pattern").map((inner) => `(?:${inner})`),
  ),
}));

describe("a linear pattern", () => {
  it("tests as the platform's own does", () => {
    assert(
      property(pattern, array(texts, { minLength: 1, maxLength: 6 }), (source, samples) => {
        // Searching from the start by the pattern itself: V8 would else look between the halves of a pair too.
        const native = new RegExp(`^[^]*?(?:${source})`, "u");
        const linear = linearPattern(source);
        for (const text of samples) expect([source, text, linear.test(text)]).toEqual([source, text, native.test(text)]);
      }),
      { numRuns: 3000 },
    );
  });

  it("knows the patterns that schemas have", () => {
    const email = "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
    const cases: [string, string[]][] = [
      [email, ["a@b.example", "a..b@c.example", ".a@b.example", "a@b", "a.b+c@d-e.example"]],
      ["^(?=.*\\d)(?=.*[a-z]).{8,64}$", ["passw0rd", "password", "short1"]],
      ["^([01]\\d|2[0-3]):[0-5]\\d$", ["23:59", "24:00", "7:00"]],
      ["^(?<year>\\d{4})-(?<month>\\d{2})$", ["2026-07", "26-07"]],
      ["(?<![a-z])cat(?![a-z])", ["a cat", "concat", "cat s"]],
    ];
    for (const [source, samples] of cases)
      for (const text of samples)
        expect([source, text, linearPattern(source).test(text)]).toEqual([source, text, new RegExp(source, "u").test(text)]);
  });

  it("takes time linear in the text, whatever the pattern", () => {
    for (const source of [
      "^(a+)+$",
      "^(a|a)*$",
      "^(a|aa)+$",
      "(a*)*b",
      "^(\\w+\\s?)*$",
      "^(a?){50}a{50}$",
      ".*.*.*.*=",
      "(?=(a+)+$)b",
      "(?<=^(a+)+)b",
    ]) {
      let [short, long] = [0, 0];
      linearPattern(source, (steps) => (short += steps)).test(`${"a".repeat(1_000)}!`);
      linearPattern(source, (steps) => (long += steps)).test(`${"a".repeat(10_000)}!`);
      expect([source, long / short < 11]).toEqual([source, true]);
    }
  });

  it("is refused if it refers back, is too large or too deep, and is an error if it is none", () => {
    for (const source of ["^(a)\\1$", "(?<x>a)\\k<x>", "(?:a{1000}){1000}", `${"(".repeat(300)}a${")".repeat(300)}`])
      expect(() => linearPattern(source)).toThrow(expect.objectContaining({ code: "invalid-params", data: { reason: "pattern" } }));
    for (const source of ["(", "a{2", "[", "\\-", "(?z)"]) expect(() => linearPattern(source)).toThrow(SyntaxError);
  });

  it("stops where it may spend no more", () => {
    let left = 100;
    const pattern = linearPattern("^(a+)+$", (steps) => {
      left -= steps;
      if (left < 0) throw new Error("spent");
    });
    expect(() => pattern.test("a".repeat(1_000))).toThrow("spent");
  });
});
