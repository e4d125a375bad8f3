import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../core/index.js";
import type { AnswerPart } from "./jsonrpc.js";
import { scanner } from "./scanner.js";

const options = { maxBytes: 1024 * 1024, depth: 64 };

/** What a text comes to, given in pieces of so many bytes. */
function scan(text: string, piece: number): { contents: JsonObject[]; rest: unknown } {
  const scanned = scanner(options);
  const bytes = new TextEncoder().encode(text);
  const parts: AnswerPart[] = [];
  for (let at = 0; at < bytes.length; at += piece) parts.push(...scanned.push(bytes.subarray(at, at + piece)));
  const rest = JSON.parse(new TextDecoder().decode(scanned.finish())) as unknown;
  return { contents: joined(parts), rest };
}

/** Parts as the contents they stand for. */
function joined(parts: readonly AnswerPart[]): JsonObject[] {
  const contents: { head: JsonObject; form: string; texts: string[]; blobs: Uint8Array[] }[] = [];
  for (const part of parts) {
    if (part.kind === "content") contents.push({ head: part.head, form: part.form, texts: [], blobs: [] });
    else if (part.kind === "chunk" && typeof part.data === "string") contents.at(-1)?.texts.push(part.data);
    else if (part.kind === "chunk") contents.at(-1)?.blobs.push(part.data as Uint8Array);
  }
  return contents.map(({ head, form, texts, blobs }) => ({
    ...head,
    ...(form === "text" ? { text: texts.join("") } : form === "blob" ? { blob: Buffer.concat(blobs).toString("base64") } : undefined),
  }));
}

const answer = (result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 7, result });
const sizes = [1, 2, 3, 5, 7, 64, 100_000];

describe("the scanner of large answers", () => {
  it.each(sizes)("takes the contents out and leaves the rest, in pieces of %d bytes", (size) => {
    const contents = [
      {
        uri: "a:///é🎈",
        mimeType: "x",
        _meta: { text: "no data", contents: [{ blob: "neither" }] },
        text: 'q " \\ / \n\t é 🎈 \u0001 end',
      },
      { uri: "b", blob: Buffer.from([0, 1, 2, 3, 254, 255]).toString("base64") },
      { uri: "c", blob: "" },
      { uri: "d", text: "" },
      { uri: "none", extra: [1, { text: "x" }] },
      { uri: "null", blob: null },
    ];
    const result = { ttlMs: 5, contents, resultType: "complete", _meta: { "a/b": [{ contents: [1, "]"] }] } };
    const { contents: _, ...others } = result;
    expect(scan(answer(result), size)).toEqual({ contents, rest: { jsonrpc: "2.0", id: 7, result: { ...others, contents: [] } } });
    expect(scan(JSON.stringify(JSON.parse(answer(result)), null, 2), size).contents).toEqual(contents);
  });

  it.each(sizes)("reads every way to write a string, in pieces of %d bytes", (size) => {
    const text = String.raw`\ud83c\udf88 \u00e9 \/ \ud83c \ud83cx \\\" \udf88 \u0022`;
    const found = scan(`{"id":1,"result":{"contents":[{"text":"${text}"},{"blob":"AAEC\\/w=="}]},"jsonrpc":"2.0"}`, size);
    expect(found.contents).toEqual([{ text: JSON.parse(`"${text}"`) }, { blob: "AAEC/w==" }]);
  });

  it("finds what JSON.parse finds, whatever the contents and wherever they are cut", () => {
    const head = fc.dictionary(
      fc.string().filter((key) => key !== "text" && key !== "blob" && key !== "__proto__"),
      fc.jsonValue(),
      { maxKeys: 3 },
    );
    const content = fc.oneof(
      fc.tuple(head, fc.string({ unit: "binary" })).map(([given, text]) => ({ ...given, text })),
      fc.tuple(head, fc.uint8Array()).map(([given, bytes]) => ({ ...given, blob: Buffer.from(bytes).toString("base64") })),
      head,
    );
    fc.assert(
      fc.property(fc.array(content, { maxLength: 4 }), head, fc.integer({ min: 1, max: 40 }), (contents, others, size) => {
        const { contents: _, ...rest } = others;
        const text = answer({ ...rest, contents });
        const found = scan(text, size);
        expect(found.contents).toEqual((JSON.parse(text) as { result: { contents: unknown } }).result.contents);
        expect(isObject(found.rest)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["a member after the data", '{"result":{"contents":[{"text":"x","uri":"y"}]}}'],
    ["both kinds of data", '{"result":{"contents":[{"text":"x","blob":""}]}}'],
    ["a content that is not an object", '{"result":{"contents":["x"]}}'],
    ["a batch", '[{"result":{"contents":[]}}]'],
    ["contents twice", '{"result":{"contents":[],"contents":[]}}'],
    ["too deep", `{"result":${"[".repeat(100)}`],
    ["too much beside the data", `{"x":"${"x".repeat(2 * 1024 * 1024)}"}`],
    ["no base64", '{"result":{"contents":[{"blob":"AB*D"}]}}'],
    ["base64 without its padding", '{"result":{"contents":[{"blob":"AA"}]}}'],
    ["base64 after its padding", '{"result":{"contents":[{"blob":"AA==AAAA"}]}}'],
    ["no UTF-8", Uint8Array.of(...new TextEncoder().encode('{"result":{"contents":[{"text":"'), 0xff, 0x22)],
    ["a line break inside a string", '{"result":{"contents":[{"text":"\n"}]}}'],
    ["no end", '{"result":{"contents":[{"text":"x"}'],
  ])("refuses %s", (_name, text) => {
    const scanned = scanner(options);
    expect(() => {
      const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
      for (let at = 0; at < bytes.length; at += 50_000) scanned.push(bytes.subarray(at, at + 50_000));
      scanned.finish();
    }).toThrow();
  });
});
