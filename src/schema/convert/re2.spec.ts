import { create } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { array, assert, constantFrom, letrec, oneof, property, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { re2Pattern } from "./re2.js";
import { convertTool } from "./tool.js";

const validator = createValidator();

/** What RE2 says of a text, by way of a rule for a field. */
function re2(source: string): (text: string) => boolean {
  const { input } = convertTool(
    { name: "t", inputSchema: { type: "object", properties: { a: { type: "string", pattern: source } } } },
    { package: "t.v1" },
  );
  expect(input.residual).toEqual([]);
  return (a) => {
    const { kind, error } = validator.validate(input.message, create(input.message, { a }));
    if (kind === "error") throw error;
    return kind === "valid";
  };
}

const texts = string({
  unit: constantFrom("a", "b", "_", " ", "\n", "\r", "\u00a0", "\u2028", "é", "😀", "0", "-", "]", "\\"),
  maxLength: 7,
});
const { pattern } = letrec<{ pattern: string; part: string; atom: string }>((tie) => ({
  pattern: oneof(
    { depthSize: "small" },
    array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
    tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `${one}|${other}`),
  ),
  part: oneof(
    { depthSize: "small" },
    tie("atom"),
    constantFrom("^", "$", "\\b", "\\B"),
    tuple(tie("atom"), constantFrom("*", "+", "?", "*?", "{2}", "{1,}", "{0,2}")).map((pair) => pair.join("")),
  ),
  atom: oneof(
    { depthSize: "small" },
    constantFrom(
      "a",
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
      "\\u0061",
      "\\u{1f600}",
      "\\x62",
      "\\cJ",
      "\\0",
      "\\/",
      "\\.",
      "-",
      "_",
    ),
    constantFrom(
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
      "[-a]",
      "[a&&b]",
      "[[a]",
      "[\\b]",
      "[\\u{1f600}-\\u{1f601}é]",
    ),
    tie("pattern").map((inner) => `(${inner})`),
    tie("pattern").map((inner) => `(?:${inner})`),
    tie("pattern").map((inner) => `(?<n>${inner})`),
  ),
}));

describe("a pattern for RE2", () => {
  it("means what it means in ECMAScript", () => {
    assert(
      property(pattern, array(texts, { minLength: 1, maxLength: 5 }), (source, samples) => {
        let native: RegExp;
        try {
          native = new RegExp(`^[^]*?(?:${source})`, "u");
        } catch {
          return;
        }
        if (re2Pattern(source) === undefined) return;
        const other = re2(source);
        for (const text of samples)
          expect([source, re2Pattern(source), text, other(text)]).toEqual([source, re2Pattern(source), text, native.test(text)]);
      }),
      { numRuns: 400 },
    );
  });

  it("is none where RE2 has no words for it", () => {
    for (const source of ["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "a{1001}", "(?:a{40}){40}", "[\\S]", "\\p{Emoji}", "\\ud83d", "(", "\\-"])
      expect([source, re2Pattern(source)]).toEqual([source, undefined]);
  });
});
