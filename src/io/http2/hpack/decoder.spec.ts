import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../../core/index.js";
import { HpackDecoder } from "./decoder.js";
import { HpackEncoder } from "./encoder.js";

const LIST = 16_384;
const decoder = (): HpackDecoder => new HpackDecoder({ tableBytes: 4096, listBytes: LIST });
const text = (length: number): Buffer =>
  Buffer.concat([Buffer.of(0x7f, 0x80 | ((length - 127) & 0x7f), (length - 127) >> 7), Buffer.alloc(length, "v")]);

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error("nothing was thrown");
}

describe("the decoder refuses", () => {
  const broken: Record<string, string> = {
    "index 0": "80",
    "an index beyond the static table": "be",
    "an index far beyond": "ffffff7f",
    "a name's index beyond the table": "7e0161",
    "an index that does not end": "ff",
    "an index that goes on": "ffff",
    "an index too large": "ffffffffff0f",
    "an index padded without end": `ff${"80".repeat(20)}00`,
    "a length too large": "007fffffffff0f",
    "a length that does not end": "007f",
    "a name that is missing": "00",
    "a name cut off": "00036162",
    "a value that is missing": "000161",
    "a value cut off": "0001610261",
    "an indexed name without a value": "41",
    "a coded value cut off": "418cf1e3",
    "padding of zeros": "418118",
    "padding of eight bits": "41821fff",
    "the end of texts inside": "4184ffffffff",
    "a size update after a field": "8220",
    "a size update too large": "3fe220",
    "a size update that does not end": "3f",
  };
  it.each(Object.entries(broken))("%s", (_, block) => {
    const fault = faultOf(() => decoder().decode(Buffer.from(block, "hex")));
    expect(fault.code).toBe("invalid-request");
    expect(fault.data).toEqual({ reason: "hpack" });
  });

  it("every block that is cut off inside a field", () => {
    const list = [":path", "/long/enough", "name", "value".repeat(40), "authorization", "secret"];
    const whole = Buffer.from(new HpackEncoder().encode(list));
    const ends = new Set([0]);
    for (let fields = 2; fields <= list.length; fields += 2) ends.add(new HpackEncoder().encode(list.slice(0, fields)).length);
    for (let end = 0; end < whole.length; end += 1) {
      const read = (): string[] => decoder().decode(whole.subarray(0, end));
      if (ends.has(end)) expect(list.slice(0, read().length)).toEqual(read());
      else expect(faultOf(read).data).toEqual({ reason: "hpack" });
    }
  });

  it("an entry that was driven out", () => {
    const one = decoder();
    one.decode(Buffer.concat([Buffer.of(0x40, 1, 0x61), text(4000)]));
    expect(one.decode(Buffer.of(0xbe))).toEqual(["a", "v".repeat(4000)]);
    one.decode(Buffer.concat([Buffer.of(0x40, 1, 0x62), text(4000)]));
    expect(one.decode(Buffer.of(0xbe))).toEqual(["b", "v".repeat(4000)]);
    expect(faultOf(() => one.decode(Buffer.of(0xbf))).code).toBe("invalid-request");
  });

  it("what a smaller table has lost", () => {
    const one = decoder();
    one.decode(Buffer.of(0x40, 1, 0x61, 1, 0x62));
    expect(one.decode(Buffer.of(0x3f, 3, 0xbe))).toEqual(["a", "b"]);
    expect(one.decode(Buffer.of(0x3f, 3, 0x3f, 2))).toEqual([]);
    expect(faultOf(() => one.decode(Buffer.of(0xbe))).code).toBe("invalid-request");
  });

  it("lists that are too long, before they are made", () => {
    const overload = { code: "overload", data: { limit: "headerBytes", max: LIST } };
    const bomb = decoder();
    bomb.decode(Buffer.concat([Buffer.of(0x40, 1, 0x61), text(4000)]));
    expect(bomb.decode(Buffer.alloc(4, 0xbe))).toHaveLength(8);
    expect(faultOf(() => bomb.decode(Buffer.alloc(1 << 20, 0xbe)))).toMatchObject(overload);
    expect(faultOf(() => decoder().decode(Buffer.alloc(1 << 20, 0x82)))).toMatchObject(overload);
    const coded = Buffer.concat([Buffer.of(0x00, 1, 0x61, 0xff, 0x80 | (11_000 & 0x7f), 11_000 >> 7), Buffer.alloc(11_127, 0)]);
    expect(faultOf(() => decoder().decode(coded))).toMatchObject(overload);
    const room = LIST - 1 - 32;
    const fits = Buffer.concat([Buffer.of(0x00, 1, 0x61), text(room)]);
    expect(decoder().decode(fits)[1]).toHaveLength(room);
    expect(faultOf(() => decoder().decode(Buffer.concat([Buffer.of(0x00, 1, 0x61), text(room + 1)])))).toMatchObject(overload);
    expect(faultOf(() => decoder().decode(Buffer.concat([Buffer.of(0x00, 1, 0x61), text(LIST + 1)])))).toMatchObject(overload);
  });

  it("with faults of these two kinds and nothing else, whatever comes", () => {
    const valid = fc
      .array(fc.tuple(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 10 })))
      .map((fields) => Uint8Array.from(new HpackEncoder().encode(fields.flat())));
    const changed = fc.tuple(valid, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 })).map(([block, changes]) => {
      for (const [at, byte] of changes) if (block.length > 0) block[at % block.length] = byte;
      return block;
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.uint8Array({ maxLength: 100 }), changed), { maxLength: 10 }), (blocks) => {
        const one = new HpackDecoder({ tableBytes: 300, listBytes: 500 });
        for (const block of blocks) {
          try {
            for (const word of one.decode(block)) expect(typeof word).toBe("string");
          } catch (error) {
            expect(error).toBeInstanceOf(Fault);
            expect(["invalid-request", "overload"]).toContain((error as Fault).code);
            return;
          }
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("the decoder", () => {
  it("reads plain bytes as well as a Buffer", () => {
    const memory = new Uint8Array(20);
    memory.set([0x40, 1, 0x61, 2, 0xe9, 0xff], 7);
    expect(decoder().decode(memory.subarray(7, 13))).toEqual(["a", "éÿ"]);
  });

  it("empties the table for what is larger, and goes on", () => {
    const one = decoder();
    one.decode(Buffer.of(0x40, 1, 0x61, 1, 0x62));
    expect(one.decode(Buffer.concat([Buffer.of(0x7e), text(4064)]))).toEqual(["a", "v".repeat(4064)]);
    expect(faultOf(() => one.decode(Buffer.of(0xbe))).code).toBe("invalid-request");
    expect(one.decode(Buffer.of(0x40, 1, 0x61, 1, 0x62, 0xbe))).toEqual(["a", "b", "a", "b"]);
  });

  it("grows the table when the peer says so", () => {
    const one = new HpackDecoder({ tableBytes: 65_536, listBytes: 1 << 20 });
    const many = Buffer.concat(Array.from({ length: 2000 }, () => Buffer.of(0x40, 0, 0)));
    expect(one.decode(Buffer.concat([Buffer.of(0x3f, 0xe1, 0xff, 0x03), many]))).toHaveLength(4000);
    // 62 + 1999, less 127, in seven bits a byte.
    expect(one.decode(Buffer.of(0xff, 0x80 | (1934 & 0x7f), 1934 >> 7))).toEqual(["", ""]);
    expect(faultOf(() => one.decode(Buffer.of(0xff, 0x80 | (1935 & 0x7f), 1935 >> 7))).code).toBe("invalid-request");
  });
});
