import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FrameSink, Http2FrameReader } from "./frame-reader.js";
import { DATA, END_STREAM, FRAME_BYTES, frame, PADDED } from "./frames.js";

/** What came, data put together: where frames are cut is not to be seen. */
class Log implements FrameSink {
  readonly events: string[] = [];
  #data = Buffer.alloc(0);

  onDataFrame(id: number, length: number): void {
    this.#data = Buffer.alloc(0);
    this.events.push(`data of ${length} on ${id}`);
  }

  onDataBytes(bytes: Uint8Array): void {
    expect(bytes.length).toBeGreaterThan(0);
    this.#data = Buffer.concat([this.#data, bytes]);
  }

  onDataEnd(flags: number): void {
    this.events.push(`${this.#data.toString("hex")} ${flags & END_STREAM}`);
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    this.events.push(`${type} ${flags} ${id} ${Buffer.from(payload).toString("hex")}`);
  }
}

interface Given {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Uint8Array;
  readonly padding: number | undefined;
}

const given: fc.Arbitrary<Given> = fc.record({
  type: fc.oneof(fc.constant(DATA), fc.integer({ min: 0, max: 255 })),
  flags: fc.integer({ min: 0, max: 255 }).map((flags) => flags & ~PADDED),
  id: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  payload: fc.uint8Array({ maxLength: 300 }),
  padding: fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }),
});

function written({ type, flags, id, payload, padding }: Given): Uint8Array {
  if (type !== DATA || padding === undefined) return frame(type, flags, id, payload);
  return frame(type, flags | PADDED, id, Buffer.concat([Buffer.of(padding), payload, Buffer.alloc(padding)]));
}

function expected({ type, flags, id, payload, padding }: Given): string[] {
  const hex = Buffer.from(payload).toString("hex");
  if (type !== DATA) return [`${type} ${flags} ${id} ${hex}`];
  const length = payload.length + (padding === undefined ? 0 : 1 + padding);
  return [`data of ${length} on ${id}`, `${hex} ${flags & END_STREAM}`];
}

describe("the frame reader", () => {
  it("finds the same frames wherever the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (frames, cuts) => {
        const log = new Log();
        const reader = new Http2FrameReader(log);
        const bytes = Buffer.concat(frames.map(written));
        // The reader may keep nothing of what it is given.
        const lent = Buffer.alloc(60);
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const to = Math.min(bytes.length, at + (cuts[turn % cuts.length] as number));
          bytes.copy(lent, 0, at, to);
          reader.push(lent.subarray(0, to - at));
          lent.fill(0xaa);
          at = to;
        }
        expect(log.events).toEqual(frames.flatMap(expected));
      }),
      { numRuns: 300 },
    );
  });

  it("takes frames of the longest length, and none that are longer", () => {
    const log = new Log();
    const reader = new Http2FrameReader(log);
    reader.push(frame(99, 0, 1, new Uint8Array(FRAME_BYTES)));
    expect(log.events.length).toBe(1);
    expect(() => reader.push(frame(99, 0, 1, new Uint8Array(FRAME_BYTES + 1)))).toThrow(/too long/);
  });

  it("refuses padding that is longer than its frame", () => {
    for (const payload of [[], [1], [3, 0, 0]]) {
      expect(() => new Http2FrameReader(new Log()).push(frame(DATA, PADDED, 1, Uint8Array.from(payload)))).toThrow(
        /more padding than frame/,
      );
    }
  });
});
