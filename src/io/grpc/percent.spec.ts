import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { percentDecode, percentEncode } from "./percent.js";

describe("grpc-message", () => {
  it("encodes what is not printable ASCII", () => {
    expect(percentEncode("50% naïve\r\n")).toBe("50%25 na%C3%AFve%0D%0A");
    expect(percentEncode("plain ~ text")).toBe("plain ~ text");
    // A header that ends with a space is refused on its way.
    expect([" ", " a b ", "  "].map(percentEncode)).toEqual(["%20", "%20a b%20", "%20%20"]);
  });

  it("reads what is badly encoded as it stands", () => {
    expect(["100%", "%zz", "%4", "%41%", "%C3"].map(percentDecode)).toEqual(["100%", "%zz", "%4", "A%", "\ufffd"]);
  });

  it("keeps a U+FEFF at the beginning", () => {
    expect(percentDecode(percentEncode("\ufeffgone"))).toBe("\ufeffgone");
  });

  it("cuts what is long, and no character in halves", () => {
    expect(percentEncode("x".repeat(2048))).toBe("x".repeat(2048));
    expect(percentEncode("x".repeat(100_000))).toBe(`${"x".repeat(1984)}... [cut: 1984 of 100000 characters]`);
    for (const character of ["ü", "€", "\u{1f600}", "%"]) {
      for (let before = 0; before < 12; before++) {
        const encoded = percentEncode("x".repeat(before) + character.repeat(1000));
        expect(encoded.length).toBeGreaterThan(1990);
        expect(encoded.length).toBeLessThanOrEqual(2048);
        expect(percentDecode(encoded)).toMatch(new RegExp(`^x{${before}}(${character})+\\.{3} \\[cut: \\d+ of \\d+ characters\\]$`, "u"));
      }
    }
  });

  it("brings back every text, in printable ASCII", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (message) => {
        const encoded = percentEncode(message);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(percentDecode(encoded)).toBe(message);
      }),
    );
  });
});
