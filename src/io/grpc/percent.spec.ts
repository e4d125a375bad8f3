import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage } from "./percent.js";

describe("grpc-message", () => {
  it("encodes what is not printable ASCII", () => {
    expect(encodeMessage("50% naïve\r\n")).toBe("50%25 na%C3%AFve%0D%0A");
    expect(encodeMessage("plain ~ text")).toBe("plain ~ text");
  });

  it("reads what is badly encoded as it stands", () => {
    expect(["100%", "%zz", "%4", "%41%", "%C3"].map(decodeMessage)).toEqual(["100%", "%zz", "%4", "A%", "\ufffd"]);
  });

  it("brings back every text, in printable ASCII", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (message) => {
        const encoded = encodeMessage(message);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeMessage(encoded)).toBe(message);
      }),
    );
  });
});
