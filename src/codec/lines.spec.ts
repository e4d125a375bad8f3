import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../core/index.js";
import { type Line, lineFramer } from "./lines.js";

const fixed = { seed: 20260728, numRuns: 500 };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Faults as their text, so that results compare. */
const shown = (lines: readonly Line[]): unknown[] =>
  lines.map((line) => (typeof line === "string" || "message" in line ? line : { fault: `${line.fault.code}: ${line.fault.message}` }));
const notText = { fault: "parse: the line is non-UTF-8" };
const cut = { fault: "parse: the stream ended inside a line" };

function frame(chunks: readonly Uint8Array[], maxBytes = 1000): unknown[] {
  const framer = lineFramer({ maxBytes });
  return [...chunks.flatMap((chunk) => shown(framer.push(chunk))), ...shown(framer.end())];
}

describe("lineFramer", () => {
  test("splits on newlines, strips one return and leaves blank lines out", () => {
    expect(frame([utf8('{"a":1}\n\n\r\n  \t\r\n{"b":2}\r\n{"c":"\r"}\r\r\n \n x\n')])).toEqual([
      '{"a":1}',
      '{"b":2}',
      '{"c":"\r"}\r',
      " x",
    ]);
  });

  test("a byte order mark is ignored at the very start, whole or in pieces, and nowhere else", () => {
    const mark = [0xef, 0xbb, 0xbf];
    expect(frame([Uint8Array.of(...mark, 0x61, 0x0a, ...mark, 0x62, 0x0a)])).toEqual(["a", "\ufeffb"]);
    expect(frame([...mark, 0x61, 0x0a].map((byte) => Uint8Array.of(byte)))).toEqual(["a"]);
    expect(frame([utf8("a\n\ufeffb\n")])).toEqual(["a", "\ufeffb"]);
    expect(frame([utf8("\n\ufeffb\n")])).toEqual(["\ufeffb"]);
  });

  test("only a line is lost to bytes that are no UTF-8", () => {
    const bad = Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a);
    expect(frame([utf8("a\n"), bad, utf8("b\n")])).toEqual(["a", notText, "b"]);
    expect(frame([new Uint8Array([...utf8("a\né\n"), ...bad, 0x0a, 0xc3, 0x0a, ...utf8("漢\r\nb\n")])])).toEqual([
      "a",
      "é",
      notText,
      notText,
      "漢",
      "b",
    ]);
    expect(frame([Uint8Array.of(0x61, 0xf0, 0x9f), Uint8Array.of(0x0a, 0x62, 0x0a)])).toEqual([notText, "b"]);
  });

  test("a genuine replacement character is text", () => {
    expect(frame([utf8("\ufffd\n")])).toEqual(["\ufffd"]);
  });

  test("a half line at the end is a fault, a blank one is nothing", () => {
    expect(frame([utf8("a\nb")])).toEqual(["a", cut]);
    expect(frame([utf8("a\n \r")])).toEqual(["a"]);
    expect(frame([])).toEqual([]);
    expect(frame([utf8("a\n"), utf8("")])).toEqual(["a"]);
  });

  test("a line of the limit passes and one byte more is a bad one, and no end of those that follow", () => {
    expect(frame([utf8("12345678\n123"), utf8("45678\n")], 8)).toEqual(["12345678", "12345678"]);
    const bad = { fault: "overload: the line is too long" };
    for (const chunks of [
      ["123456789\n"],
      ["123456789", "\n"],
      ["12345", "6789\n"],
      ["123456789".repeat(9), "123456789", "1\n"],
      ["é漢漢a\n"],
    ])
      expect(frame([...chunks.map(utf8), utf8("x\ny\n")], 8)).toEqual([bad, "x", "y"]);
    expect(frame([utf8("a\n123456789\nb\n")], 8)).toEqual(["a", bad, "b"]);
    const framer = lineFramer({ maxBytes: 8 });
    framer.push(utf8("123456789"));
    expect(framer.end()).toMatchObject([{ fault: { code: "parse" } }]);
  });

  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"text":"', '"}}', { answers: 7 }],
    ['{"id":"a b","jsonrpc":"2.0","error":{"data":"', '"}}', { answers: "a b" }],
    ['{"result":{"id":1,"text":"', '"},"jsonrpc":"2.0","id":8}', { answers: 8 }],
    ['{"result":{"text":"', '"},"id":9,"jsonrpc":"2.0"}', { answers: 9 }],
    ['{"jsonrpc":"2.0","method":"x","params":{"text":"', '"},"id":3}', { id: 3 }],
    ['{"jsonrpc":"2.0","id":4,"text":"', '"}', { id: 4, answers: 4 }],
    ['{"jsonrpc":"2.0","result":{"text":"', '","id":5}}', {}],
    ['{"jsonrpc":"2.0","method":"x","params":{"text":"', ' ,\\"id\\":5}"}}', {}],
    ["x", "", {}],
  ])("a line that is too long still tells whose it is, in its ends: %s…%s", (head, tail, whose) => {
    const text = `${head}${"x".repeat(20_000)}${tail}`;
    for (const size of [1, 1000, 50_000]) {
      const bytes = utf8(`${text}\n`);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      const framer = lineFramer({ maxBytes: 10_000 });
      expect(chunks.flatMap((chunk) => [...framer.push(chunk)])).toEqual([{ fault: expect.any(Fault), whose }]);
    }
  });

  test("many short lines are not a long one", () => {
    expect(frame([utf8("1234567\n".repeat(100))], 8)).toEqual(Array(100).fill("1234567"));
  });

  test("keeps no hold of the chunks it was given", () => {
    const framer = lineFramer({ maxBytes: 100 });
    const chunk = utf8("half ");
    framer.push(chunk);
    chunk.fill(0x78);
    expect(framer.push(utf8("line\n"))).toEqual(["half line"]);
  });

  test("a long line in many small chunks takes linear time", () => {
    const framer = lineFramer({ maxBytes: 2 ** 24 });
    const piece = new Uint8Array(64).fill(0x61);
    const count = 2 ** 17;
    let early = 0;
    for (let nr = 0; nr < count; nr++) early += framer.push(piece).length;
    expect(early).toBe(0);
    const [line] = framer.push(utf8("\nnext"));
    expect((line as string).length).toBe(64 * count);
    expect(framer.push(utf8("\n"))).toEqual(["next"]);
  });

  test("any chunking of any bytes gives the same lines", () => {
    const piece = fc.oneof(
      fc.constantFrom("\n", "\r\n", "\r", " ", "", "é", "漢字", "🙂", "\ufeff", '{"a":1}').map(utf8),
      fc.constantFrom([0xff], [0xc3], [0xf0, 0x9f], [0xef, 0xbb, 0xbf]).map((bytes) => Uint8Array.from(bytes)),
      fc.string({ maxLength: 5 }).map(utf8),
    );
    let faults = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), fc.array(fc.nat(), { maxLength: 12 }), (pieces, places) => {
        const bytes = Uint8Array.from(pieces.flatMap((one) => [...one]));
        const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const whole = frame([bytes]);
        expect(frame(at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(whole);
        expect(frame([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
        if (whole.some((line) => typeof line === "object")) faults++;
      }),
      fixed,
    );
    expect(faults).toBeGreaterThan(50);
  });

  test("lines that were joined come apart again", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "🙂", " ", '"'), minLength: 1, maxLength: 12 }).map((text) => `{${text}}`);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), fc.constantFrom("\n", "\r\n"), (lines, end) => {
        expect(frame([utf8(lines.map((text) => text + end).join(""))])).toEqual(lines);
      }),
      { ...fixed, numRuns: 100 },
    );
  });
});
