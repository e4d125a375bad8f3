import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { base64Stream, decodeBase64, decodePure, encodeBase64, encodePure } from "./base64.js";
import { concat } from "./bytes.js";
import { cutText, lengthPure, utf8Decoder, utf8Length } from "./utf8.js";

const fixed = { seed: 20260728, numRuns: 500 };
const octets = fc.uint8Array({ maxLength: 40 });
const chunks = fc.array(fc.uint8Array({ maxLength: 7 }), { maxLength: 12 });
/** Any string: also lone surrogates. */
const text = fc.string({
  unit: fc.oneof(fc.constantFrom("a", "é", "漢", "🙂", "\ud83d", "\ude42", "\ufeff", "\n"), fc.string({ minLength: 1, maxLength: 1 })),
  maxLength: 40,
});
/** Strings that UTF-8 can carry. */
const wellFormed = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🙂", "\ufffd", "\ufeff", "\u0000"), maxLength: 40 });

/** Cuts bytes at the places given, wherever they fall. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe("concat", () => {
  test("joins in order", () => {
    expect(concat([])).toEqual(new Uint8Array(0));
    expect(concat([Uint8Array.of(1), Uint8Array.of(), Uint8Array.of(2, 3)])).toEqual(Uint8Array.of(1, 2, 3));
  });
});

describe("base64", () => {
  test("what is encoded decodes, by either way and alike", () => {
    fc.assert(
      fc.property(octets, (bytes) => {
        const encoded = encodeBase64(bytes);
        expect(encodePure(bytes)).toBe(encoded);
        expect(decodeBase64(encoded)).toEqual(bytes);
        expect(decodePure(encoded)).toEqual(bytes);
      }),
      fixed,
    );
  });

  test("a view into a larger buffer counts from where it begins", () => {
    const bytes = Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4);
    expect(encodeBase64(bytes)).toBe("AQID");
    expect(encodePure(bytes)).toBe("AQID");
  });

  test("decodes to a plain array of its own", () => {
    const bytes = decodeBase64("AQID");
    expect(bytes.constructor).toBe(Uint8Array);
    expect(bytes.buffer.byteLength).toBe(3);
  });

  test.each(["A", "AA", "AAA", "A===", "====", "AA=A", "AA==AAAA", "AQ I", "AQI\n", "AQ-_", "AQIé", "\u0141QID", "AQID\nAQI"])(
    "refuses %j, also in a long text",
    (bad) => {
      expect(() => decodeBase64(bad)).toThrow(SyntaxError);
      expect(() => decodeBase64("AAAA".repeat(300) + bad)).toThrow(SyntaxError);
      expect(() => decodeBase64(`${bad}${"AAAA".repeat(300)}`)).toThrow(SyntaxError);
    },
  );

  test("a long text is judged as a short one is", () => {
    const letter = fc.constantFrom("A", "z", "9", "+", "/", "=", "-", "_", "\n", "é", "\u0141", "\ud800");
    const good = "AAAA".repeat(300);
    let refused = 0;
    fc.assert(
      fc.property(fc.array(letter, { minLength: 4, maxLength: 8 }), fc.boolean(), (letters, behind) => {
        const short = letters.join("").padEnd(8, "A");
        const long = behind ? good + short : short + good;
        const right = /^[A-Za-z0-9+/]*={0,2}$/.test(long);
        if (right) expect(decodeBase64(long)).toEqual(decodePure(long));
        else {
          refused++;
          expect(() => decodeBase64(long)).toThrow(SyntaxError);
        }
      }),
      fixed,
    );
    expect(refused).toBeGreaterThan(0);
  });

  test("spare bits of the last group are ignored, by either way", () => {
    for (const decode of [decodeBase64, decodePure]) expect(decode("QR==")).toEqual(Uint8Array.of(0x41));
  });

  test("a stream joined is the base64 of the whole, however it is cut", () => {
    fc.assert(
      fc.property(chunks, (parts) => {
        const stream = base64Stream();
        const pieces = parts.map((part) => stream.push(part));
        for (const piece of pieces) expect(piece).not.toContain("=");
        expect(pieces.join("") + stream.finish()).toBe(encodeBase64(concat(parts)));
      }),
      fixed,
    );
  });

  test("a stream keeps no hold of the chunks it was given", () => {
    const stream = base64Stream();
    const chunk = Uint8Array.of(1);
    expect(stream.push(chunk)).toBe("");
    chunk[0] = 7;
    expect(stream.finish()).toBe("AQ==");
    expect(stream.finish()).toBe("");
  });
});

describe("utf8", () => {
  test("utf8Length is what the encoder writes, by either way", () => {
    fc.assert(
      fc.property(text, (value) => {
        const { length } = new TextEncoder().encode(value);
        expect([utf8Length(value), lengthPure(value)]).toEqual([length, length]);
      }),
      fixed,
    );
  });

  test("the decoder gives the text and whole code points only, however the bytes are cut", () => {
    fc.assert(
      fc.property(wellFormed, fc.array(fc.nat(), { maxLength: 10 }), (value, places) => {
        const decoder = utf8Decoder();
        const pieces = cutAt(new TextEncoder().encode(value), places).map((chunk) => decoder.push(chunk));
        decoder.finish();
        expect(pieces.join("")).toBe(value);
        for (const piece of pieces)
          expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(piece))).toBe(piece);
      }),
      fixed,
    );
  });

  test("the decoder refuses exactly what a decoder of the whole refuses", () => {
    const byte = fc.constantFrom(0x61, 0xc3, 0xa9, 0xe6, 0xbc, 0xa2, 0xf0, 0x9f, 0x80, 0xff, 0xed, 0xa0, 0xef, 0xbb, 0xbf);
    let refused = 0;
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 6 }), (values, places) => {
        const bytes = Uint8Array.from(values);
        const attempt = (run: () => string): string => {
          try {
            return `text ${run()}`;
          } catch {
            return "refused";
          }
        };
        const whole = attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
        const streamed = attempt(() => {
          const decoder = utf8Decoder();
          const pieces = cutAt(bytes, places).map((chunk) => decoder.push(chunk));
          decoder.finish();
          return pieces.join("");
        });
        if (whole === "refused") refused++;
        expect(streamed).toBe(whole);
      }),
      { ...fixed, numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});

describe("cutText", () => {
  test("cuts the longest head that fits, between code points, and loses nothing", () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), (value, maxBytes) => {
        const [head, rest] = cutText(value, maxBytes);
        expect(head + rest).toBe(value);
        const points = [...value];
        const count = [...head].length;
        expect(points.slice(0, count).join("")).toBe(head);
        if (value === "") return;
        expect(count).toBeGreaterThan(0);
        if (count > 1) expect(utf8Length(head)).toBeLessThanOrEqual(maxBytes);
        if (rest !== "") expect(utf8Length(points.slice(0, count + 1).join(""))).toBeGreaterThan(maxBytes);
      }),
      fixed,
    );
  });

  test("a pair of surrogates stays together though the limit falls inside it", () => {
    expect(cutText("a🙂b", 3)).toEqual(["a", "🙂b"]);
    expect(cutText("🙂b", 1)).toEqual(["🙂", "b"]);
  });
});
