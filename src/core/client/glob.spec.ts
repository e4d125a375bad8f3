import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { glob } from "../index.js";

describe("glob", () => {
  it.each([
    ["file:///a/*.txt", ["file:///a/b.txt", "file:///a/.txt"], ["file:///a/b/c.txt", "file:///a/b.txt2", "file:///x/b.txt"]],
    ["file:///a/**", ["file:///a/", "file:///a/b", "file:///a/b/c"], ["file:///a", "file:///b/a/"]],
    ["file:///**/x", ["file:///x", "file:///a/x", "file:///a/b/x"], ["file:///ax", "file:///a/x/b"]],
    ["**", ["", "a:b/c"], []],
    ["a:b**c", ["a:bc", "a:b/x/c"], ["a:b/x/d"]],
    ["a:?/b", ["a:x/b"], ["a:/b", "a:xy/b", "a://b"]],
    ["a:{b,c/*}", ["a:b", "a:c/d"], ["a:c", "a:d", "a:{b,c/d}"]],
    ["a:{b{1,2},}.c", ["a:b1.c", "a:b2.c", "a:.c"], ["a:b.c"]],
    ["a:{b", ["a:{b"], ["a:b"]],
    ["a:\\*/*", ["a:*/b"], ["a:b/b"]],
    ["a:[b].*", ["a:[b].c"], ["a:b.c"]],
  ])("%s", (pattern, yes, no) => {
    const { matches } = glob(pattern);
    expect(yes.filter((uri) => !matches(uri))).toEqual([]);
    expect(no.filter((uri) => matches(uri))).toEqual([]);
  });

  it("knows a plain URI", () => {
    expect(glob("file:///a/b").plain).toBe("file:///a/b");
    expect(glob("https://a/b\\?c=\\*").plain).toBe("https://a/b?c=*");
    expect(glob("https://a/b?c").plain).toBeUndefined();
    expect(glob("https://a/b?c").matches("https://a/b?c")).toBe(true);
  });

  it("takes any URI literally that is escaped", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (uri, other) => {
        const { plain, matches } = glob(uri.replace(/[\\*?{}]/g, "\\$&"));
        expect(plain).toBe(uri);
        expect(matches(uri)).toBe(true);
        expect(matches(other)).toBe(other === uri);
      }),
    );
  });

  it("agrees with a regular expression", () => {
    const token = fc.constantFrom("a", "b", "/", "*", "?", "**", "**/");
    const letter = fc.constantFrom("a", "b", "/");
    fc.assert(
      fc.property(fc.array(token, { maxLength: 6 }), fc.array(letter, { maxLength: 8 }), (tokens, letters) => {
        const pattern = tokens.join("");
        const uri = letters.join("");
        fc.pre(!pattern.includes("***"));
        const source = pattern.replace(/(^|\/)\*\*\/|\*\*|\*|\?/g, (found, before: string | undefined) =>
          before !== undefined ? `${before}(?:.*/)?` : found === "**" ? ".*" : found === "*" ? "[^/]*" : "[^/]",
        );
        // The expression above takes "/" before "**/" for itself, so that of two in a row it sees the first only.
        fc.pre(!pattern.includes("**/**/"));
        expect([pattern, uri, glob(pattern).matches(uri)]).toEqual([pattern, uri, new RegExp(`^${source}$`).test(uri)]);
      }),
      { numRuns: 1000 },
    );
  });

  it("is not slowed down by a hostile URI, nor by a hostile pattern", () => {
    const start = performance.now();
    expect(glob("**a**a**a**a**a**b").matches("a".repeat(20_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
    expect(() => glob("{a,b}".repeat(20))).toThrow(/alternatives/);
  });
});
