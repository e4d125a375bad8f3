import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Deframer } from "./deframer.js";

const frame = (message: Uint8Array, flag = 0): Uint8Array => {
  const bytes = Buffer.alloc(5 + message.length);
  bytes[0] = flag;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
};

function deframe(chunks: readonly Uint8Array[], limit = 1 << 20): { messages: Buffer[]; flags: boolean[]; partial: boolean } {
  const messages: Buffer[] = [];
  const flags: boolean[] = [];
  const deframer = new Deframer(limit, (message, compressed) => {
    messages.push(Buffer.from(message));
    flags.push(compressed);
  });
  for (const chunk of chunks) deframer.push(chunk);
  return { messages, flags, partial: deframer.partial };
}

describe("the deframer", () => {
  it("finds the same messages however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 })),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
        (messages, cuts) => {
          const all = Buffer.concat(messages.map((message, at) => frame(message, at % 2)));
          const chunks: Uint8Array[] = [];
          for (let from = 0, turn = 0; from < all.length; turn++) {
            const size = cuts[turn % cuts.length] as number;
            chunks.push(all.subarray(from, from + size));
            from += size;
          }
          const got = deframe(chunks);
          expect(got.messages).toEqual(messages.map((message) => Buffer.from(message)));
          expect(got.flags).toEqual(messages.map((_, at) => at % 2 === 1));
          expect(got.partial).toBe(false);
        },
      ),
    );
  });

  it("knows that it is inside a message", () => {
    const whole = frame(Buffer.from("hello"));
    for (let cut = 1; cut < whole.length; cut++) expect(deframe([whole.subarray(0, cut)]).partial).toBe(true);
  });

  it("refuses a declared length over the limit before it has the message, also in pieces", () => {
    const prefix = Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff);
    expect(() => deframe([prefix])).toThrow(expect.objectContaining({ code: "overload", data: { limit: "messageBytes" } }));
    expect(() => deframe([...prefix].map((byte) => Uint8Array.of(byte)))).toThrow(expect.objectContaining({ code: "overload" }));
    expect(deframe([frame(new Uint8Array(100))], 100).messages.length).toBe(1);
    expect(() => deframe([frame(new Uint8Array(101))], 100)).toThrow(expect.objectContaining({ code: "overload" }));
  });

  it("refuses flags that do not exist", () => {
    expect(() => deframe([Uint8Array.of(2, 0, 0, 0, 0)])).toThrow(expect.objectContaining({ code: "internal" }));
  });

  it("takes no room for what is declared and not sent", () => {
    const before = process.memoryUsage().arrayBuffers;
    const deframers = Array.from({ length: 100 }, () => new Deframer(64 << 20, () => {}));
    for (const deframer of deframers) deframer.push(Uint8Array.of(0, 3, 0, 0, 0, 1));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 << 20);
  });

  it("copies a message in tiny pieces a constant number of times", () => {
    // 8 MB in pieces of 1 KiB: copying all of it at every piece would move 32 GB.
    const whole = frame(new Uint8Array(8 << 20));
    const chunks: Uint8Array[] = [];
    for (let from = 0; from < whole.length; from += 1024) chunks.push(whole.subarray(from, from + 1024));
    const began = performance.now();
    expect(deframe(chunks, 16 << 20).messages[0]?.length).toBe(8 << 20);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
