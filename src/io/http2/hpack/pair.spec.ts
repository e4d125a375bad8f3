import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HpackDecoder } from "./decoder.js";
import { HpackEncoder } from "./encoder.js";

const names = fc.oneof(
  fc.constantFrom(
    ":method",
    ":path",
    ":status",
    "authorization",
    "cookie",
    "content-type",
    "content-length",
    "grpc-timeout",
    "traceparent",
    "x",
  ),
  fc.stringMatching(/^[a-z-]{1,40}$/),
);
const latin1 = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const values = fc.oneof(fc.constantFrom("GET", "POST", "/", "200", "", "identity,gzip"), fc.stringMatching(/^[a-d]$/), latin1);
const list = fc.array(fc.tuple(names, values), { maxLength: 20 }).map((fields) => fields.flat());
const limit = fc.oneof(fc.constantFrom(0, 31, 32, 64, 4095, 4096, 65_536), fc.integer({ min: 0, max: 5000 }));
const step = fc.record({ limits: fc.array(limit, { maxLength: 3 }), list, again: fc.integer({ min: 0, max: 2 }) });

const pair = (): { encoder: HpackEncoder; decoder: HpackDecoder } => ({
  encoder: new HpackEncoder(),
  decoder: new HpackDecoder({ tableBytes: 4096, listBytes: 1 << 20 }),
});

describe("an encoder and a decoder", () => {
  it("agree on every list, whatever the size of the table becomes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { encoder, decoder } = pair();
        for (const { limits, list, again } of steps) {
          for (const bytes of limits) encoder.limit = bytes;
          for (let i = 0; i <= again; i += 1) expect(decoder.decode(encoder.encode(list))).toEqual(list);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("agree over thousands of blocks that drive each other out of the table", () => {
    const { encoder, decoder } = pair();
    for (let i = 0; i < 5000; i += 1) {
      const list = [":path", `/${i % 97}`, `x-${i % 61}`, `${i % 7}`, "x-same", "same", "x-new", `${i}`, "grpc-timeout", `${i % 13}m`];
      expect(decoder.decode(encoder.encode(list))).toEqual(list);
    }
  });

  it("write a long list to memory of its own", () => {
    const { encoder, decoder } = pair();
    const long = ["a", "b".repeat(100_000), "c", "d"];
    const block = encoder.encode(long);
    encoder.encode(["e", "f"]);
    expect(decoder.decode(block)).toEqual(long);
  });
});

describe("the encoder", () => {
  const bytes = (encoder: HpackEncoder, ...list: string[]): string => Buffer.from(encoder.encode(list)).toString("latin1");

  it("writes a field that repeats as one byte", () => {
    const encoder = new HpackEncoder();
    expect(bytes(encoder, "mcp-name", "echo")).toBe("\x40\x08mcp-name\x04echo");
    expect(bytes(encoder, "mcp-name", "echo")).toBe("\xbe");
    expect(bytes(encoder, "mcp-name", "other")).toBe("\x7e\x05other");
    expect(bytes(encoder, "mcp-name", "echo", "mcp-name", "other")).toBe("\xbf\xbe");
  });

  it("keeps secrets out of every table", () => {
    const encoder = new HpackEncoder();
    for (const name of ["authorization", "cookie", "proxy-authorization"]) {
      const first = bytes(encoder, name, "secret");
      expect(first.charCodeAt(0) & 0xf0).toBe(0x10);
      expect(bytes(encoder, name, "secret")).toBe(first);
    }
  });

  it("keeps one value of what always changes, for its name", () => {
    const encoder = new HpackEncoder();
    expect(bytes(encoder, "grpc-timeout", "1S")).toBe("\x40\x0cgrpc-timeout\x021S");
    expect(bytes(encoder, "grpc-timeout", "2S")).toBe("\x0f\x2f\x022S");
    expect(bytes(encoder, "grpc-timeout", "2S")).toBe("\x0f\x2f\x022S");
    expect(bytes(encoder, "content-length", "5")).toBe("\x0f\x0d\x015");
    expect(bytes(encoder, "content-length", "5")).toBe("\x0f\x0d\x015");
  });

  it("keeps long fields out of the table", () => {
    const encoder = new HpackEncoder();
    const first = bytes(encoder, "x", "y".repeat(255));
    expect(bytes(encoder, "x", "y".repeat(255))).toBe(first);
    expect(bytes(encoder, "x", "y".repeat(254))).toHaveLength(4 + 2 + 254 - 1);
    expect(bytes(encoder, "x", "y".repeat(254))).toBe("\xbe");
  });

  it("announces the least size and the last one, once", () => {
    const encoder = new HpackEncoder();
    encoder.limit = 65_536;
    expect(bytes(encoder)).toBe("");
    encoder.limit = 100;
    encoder.limit = 20;
    encoder.limit = 8192;
    expect(bytes(encoder)).toBe("\x34\x3f\xe1\x1f");
    expect(bytes(encoder)).toBe("");
    encoder.limit = 0;
    expect(bytes(encoder, "x", "y")).toBe("\x20\x00\x01x\x01y");
    expect(bytes(encoder, "x", "y")).toBe("\x00\x01x\x01y");
  });
});
