import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeLengths, huffmanCodes, readHuffman } from "./huffman.js";

const codes = huffmanCodes();

/** The code of each symbol in turn, then `padding` up to a whole byte. */
function bits(symbols: Iterable<number>, padding = "1"): Buffer {
  let text = "";
  for (const symbol of symbols) text += (codes[symbol] as number).toString(2).padStart(codeLengths[symbol] as number, "0");
  text = text.padEnd(Math.ceil(text.length / 8) * 8, padding);
  return Buffer.from(text.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

const read = (bytes: Uint8Array, most = 1 << 20): string | undefined => readHuffman(bytes, { start: 0, end: bytes.length }, most);
const broken = { code: "invalid-request", data: { reason: "hpack" } };

describe("Huffman's code", () => {
  it("leaves nothing over", () => {
    expect(codeLengths).toHaveLength(257);
    expect(codeLengths.reduce((sum, length) => sum + 2 ** (30 - length), 0)).toBe(2 ** 30);
  });

  it("has the codes of the standard", () => {
    const code = (symbol: string): [number | undefined, number | undefined] => [
      codes[symbol.charCodeAt(0)],
      codeLengths[symbol.charCodeAt(0)],
    ];
    expect(code("0")).toEqual([0x0, 5]);
    expect(code("a")).toEqual([0x3, 5]);
    expect(code(" ")).toEqual([0x14, 6]);
    expect(code("&")).toEqual([0xf8, 8]);
    expect(code("\\")).toEqual([0x7fff0, 19]);
    expect(code("\n")).toEqual([0x3ffffffc, 30]);
    expect(code("\x00")).toEqual([0x1ff8, 13]);
    expect(code("\xff")).toEqual([0x3ffffee, 26]);
    expect([codes[256], codeLengths[256]]).toEqual([0x3fffffff, 30]);
  });

  it("reads whatever it stands for", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        expect(read(bits(bytes))).toBe(Buffer.from(bytes).toString("latin1"));
      }),
    );
    const all = Uint8Array.from({ length: 256 }, (_, symbol) => symbol);
    expect(read(bits(all))).toBe(Buffer.from(all).toString("latin1"));
  });

  it("reads nothing that is longer than allowed", () => {
    expect(read(bits(Buffer.from("aaaa")), 4)).toBe("aaaa");
    expect(read(bits(Buffer.from("aaaaa")), 4)).toBeUndefined();
    expect(read(bits(Buffer.alloc(100_000, "a")), 99_999)).toBeUndefined();
    expect(read(bits([]), 0)).toBe("");
  });

  it("refuses a padding that is none", () => {
    expect(read(bits(Buffer.from("a")))).toBe("a");
    expect(() => read(bits(Buffer.from("a"), "0"))).toThrow(expect.objectContaining(broken));
    // Eight ones more than the text needs.
    expect(() => read(Buffer.concat([bits(Buffer.from("a")), Buffer.of(0xff)]))).toThrow(expect.objectContaining(broken));
    expect(() => read(Buffer.of(0xff))).toThrow(expect.objectContaining(broken));
    // The beginning of a longer code.
    expect(() => read(bits([0xff]).subarray(0, 3))).toThrow(expect.objectContaining(broken));
  });

  it("refuses the end of the text inside", () => {
    for (const symbols of [[256], [97, 256], [97, 256, 97], [97, 97, 97, 97, 97, 97, 256]])
      expect(() => read(bits(symbols))).toThrow(expect.objectContaining(broken));
  });
});
