import { expect, test } from "vitest";
import { textLines } from "./text-lines.js";

const utf8 = new TextEncoder();

function cut(chunks: readonly (string | Uint8Array)[], maxChars?: number): string[] {
  const lines: string[] = [];
  const cutter = textLines((line) => lines.push(line), maxChars);
  for (const chunk of chunks) cutter.push(typeof chunk === "string" ? utf8.encode(chunk) : chunk);
  cutter.end();
  return lines;
}

test("lines are cut wherever the chunks are, with either newline", () => {
  expect(cut(["a", "b\nc", "\r\n\nd"])).toEqual(["ab", "c", "", "d"]);
  const bytes = utf8.encode("é😀\nü\n");
  expect(cut(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(["é😀", "ü"]);
});

test("a long line comes in pieces of whole characters", () => {
  expect(cut(["aaaa", "aaaa\nbbb\n"], 3)).toEqual(["aaa", "aaa", "aa", "bbb"]);
  expect(cut(["ab😀cd"], 3)).toEqual(["ab", "😀c", "d"]);
});

test("what is no UTF-8 is replaced", () => {
  expect(cut([Uint8Array.of(0x61, 0xff, 0x62, 0x0a, 0xc3)])).toEqual(["a\ufffdb", "\ufffd"]);
});
