import { describe, expect, it } from "vitest";
import { Pieces } from "./pieces.js";

describe("pieces", () => {
  it("of a byte each are few in the end, and in their order", () => {
    const pieces = new Pieces();
    for (let at = 0; at < 100_000; at++) pieces.push(Uint8Array.of(at % 251));
    expect(pieces.bytes).toBe(100_000);
    expect(pieces.all().length).toBeLessThan(2_000);
    expect(pieces.whole()).toEqual(Uint8Array.from({ length: 100_000 }, (_, at) => at % 251));
  });

  it("that are large are not copied, and a single one is the whole", () => {
    const pieces = new Pieces();
    const large = new Uint8Array(100_000);
    pieces.push(large);
    expect(pieces.whole()).toBe(large);
    for (let at = 1; at < 2_000; at++) pieces.push(large);
    expect(pieces.all()).toHaveLength(2_000);
    expect(pieces.all().every((piece) => piece === large)).toBe(true);
  });

  it("may be none", () => {
    expect(new Pieces().whole()).toEqual(new Uint8Array());
  });
});
