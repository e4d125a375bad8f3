import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blobLines } from "./blob-lines.js";
import { blobText, PART } from "./blob-text.js";
import { type Line, lineFramer } from "./lines.js";
import { parseLine } from "./parse.js";
import { readPart } from "./part-message.js";

const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const lineOf = (blob: string, call: string | number = 1): string =>
  `${blobText(blob, { jsonrpc: "2.0", method: PART, params: { call } })}\n`;

/** What comes of bytes that are cut at these places: parts and faults, in text. */
function read(bytes: Uint8Array, cuts: readonly number[], maxBytes = 2 ** 20): string[] {
  const framer = lineFramer({ maxBytes, long: [blobLines(maxBytes)] });
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  // Each chunk has memory of its own, as a stream would give it.
  return edges.flatMap((edge, at) => (at === 0 ? [] : framer.push(bytes.slice(edges[at - 1], edge)))).map(seen);
}

function seen(line: Line): string {
  const message = parseLine(line, { depth: 64 });
  const part = message.kind === "notification" ? (readPart(message) ?? message) : message;
  if (part.kind === "part" && part.part.kind === "chunk")
    return `${String(part.id)}: ${Buffer.from(part.part.data as Uint8Array).toString("hex")}`;
  if (part.kind === "bad" || part.kind === "bad-part")
    return `${part.fault.message} for ${String(part.kind === "bad" ? part.answers : part.id)}`;
  return JSON.stringify(part);
}

describe("a line with a blob", () => {
  test("is the same part however it is cut, with its neighbours", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 3000 }),
        fc.oneof(fc.nat(), fc.stringMatching(/^[\w-]{1,20}$/)),
        fc.array(fc.nat(9000), { maxLength: 12 }),
        (data, call, cuts) => {
          const bytes = utf8(`{"a":1}\n${lineOf(Buffer.from(data).toString("base64"), call)}{"b":2}\n`);
          const inside = cuts.filter((cut) => cut <= bytes.length);
          const [before, part, after] = read(bytes, inside);
          expect(part).toBe(`${call}: ${Buffer.from(data).toString("hex")}`);
          expect([before, after]).toEqual([expect.stringContaining("jsonrpc must be"), expect.stringContaining("jsonrpc must be")]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("is a part where it is longer than the memory that is made for it, and in any other memory", () => {
    const data = Buffer.alloc(200_001, "some bytes");
    const bytes = utf8(lineOf(data.toString("base64")));
    for (const size of [1000, 4096, 65_536]) {
      const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, at) => (at + 1) * size);
      expect(read(bytes, cuts)).toEqual([`1: ${data.toString("hex")}`]);
    }
  });

  test.each([
    ["a hole", "QUJD QUJD"],
    ["the alphabet of URLs", "QUJD_-==".repeat(100)],
    ["half a group", "QUJDQ"],
    ["padding in the middle", `QQ==${"QUJD".repeat(100)}`],
    ["what is not ASCII", "QUJDQUJé"],
  ])("with %s fails the call that it is for, and no other", (_what, odd) => {
    const bytes = utf8(`${lineOf(`${"QUJD".repeat(200)}${odd}`)}${lineOf("QUJD".repeat(100), 2)}`);
    for (const cuts of [[], [300], [300, 1000], Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)]) {
      const [first, second] = read(bytes, cuts);
      expect(first).toBe("the server sent a blob that is not base64 for 1");
      expect(second).toBe(`2: ${Buffer.from("ABC".repeat(100)).toString("hex")}`);
    }
  });

  test("that goes on after its blob fails its call", () => {
    const text = lineOf("QUJD".repeat(200)).replace('"}}', '","more":1}}');
    expect(read(utf8(text), [300])).toEqual(["the server sent a blob that is not base64 for 1"]);
  });

  test("that is longer than a message may be fails its call, and is not held", () => {
    const bytes = utf8(lineOf("QUJD".repeat(5000)));
    expect(read(bytes, [300, 15_000], 10_000)).toEqual(["the message is larger than a message may be for 1"]);
  });
});
