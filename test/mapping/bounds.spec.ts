import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as mcpv1 from "../../src/codec/mcpv1/index.js";
import { Writer } from "../../src/codec/protobuf/writer.js";
import { Fault } from "../../src/core/index.js";
import { cases } from "../../tools/proto/shapes.mjs";

const plain = { twin: false };
const never = (): undefined => undefined;

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** A field with a length before it. */
function field(number: number, ...content: readonly (string | Uint8Array)[]): Uint8Array {
  const inner = Buffer.concat(content.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const writer = new Writer();
  writer.varint(number * 8 + 2);
  writer.octets(inner);
  return writer.finish();
}
const varint = (number: number, value: number): Uint8Array => {
  const writer = new Writer();
  writer.varint(number * 8);
  writer.varint(value);
  return writer.finish();
};
const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

/** Bytes of `levels` messages, one in the other; built from the inside, each length in four bytes so that it takes linear time. */
function nested(levels: number, wrap: readonly number[]): Uint8Array {
  const step = wrap.length * 5;
  const bytes = new Uint8Array(levels * step);
  let at = bytes.length;
  for (let level = 0; level < levels; level++) {
    for (const tag of wrap) {
      const length = bytes.length - at;
      at -= 5;
      bytes.set([tag, (length & 127) | 128, ((length >> 7) & 127) | 128, ((length >> 14) & 127) | 128, length >> 21], at);
    }
  }
  return bytes;
}

describe("names that careless code trips over", () => {
  const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  const hostile = JSON.parse(text) as Record<string, unknown>;

  it("are data in arguments, schemas, metadata and members that nobody knows", () => {
    for (const twin of [false, true]) {
      const params = { name: "x", arguments: hostile, _meta: hostile, ...hostile };
      Object.defineProperty(params, "__proto__", { value: hostile, enumerable: true });
      const back = mcpv1.decodeMessage("CallToolRequest", mcpv1.encodeMessage("CallToolRequest", params, { twin }));
      expect(JSON.stringify(back["arguments"])).toBe(text);
      expect(Object.keys(back)).toContain("__proto__");
      expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
      expect(Object.getPrototypeOf(back["arguments"])).toBe(Object.prototype);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("and in maps of strings", () => {
    const map = JSON.parse('{"__proto__":"p","toString":"t"}') as object;
    const back = mcpv1.decodeMessage("GetPromptRequest", mcpv1.encodeMessage("GetPromptRequest", { name: "x", arguments: map }, plain));
    expect(JSON.stringify(back["arguments"])).toBe('{"__proto__":"p","toString":"t"}');
    const meta = mcpv1.decodeMessage("PingRequest", mcpv1.encodeMessage("PingRequest", { _meta: map }, plain));
    expect(Object.keys(meta["_meta"] as object)).toEqual(["__proto__", "toString"]);
  });
});

describe("nesting", () => {
  /** Value { struct_value { fields { value: Value } } }, and Value { list_value { values: Value } }. */
  const structs = nested(100_000, [0x12, 0x0a, 0x2a]);
  const lists = nested(100_000, [0x0a, 0x32]);

  it("of 10^5 is refused, in Struct, Value, ListValue and JSON", () => {
    const messages: readonly (readonly [mcpv1.MessageName, Uint8Array])[] = [
      ["CallToolRequest", field(2, field(1, field(2, structs)))],
      ["CallToolRequest", field(2, field(1, field(2, lists)))],
      ["CallToolResponse", field(3, lists)],
      ["CallToolRequest", field(102, `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)],
      ["CallToolRequest", field(1000, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
      ["CallToolRequest", field(102, "[".repeat(100_000))],
    ];
    for (const [name, bytes] of messages) {
      const fault = faultOf(() => mcpv1.decodeMessage(name, bytes));
      expect([fault.code, (fault.data as { limit?: string }).limit]).toEqual(["invalid-request", "depth"]);
    }
  });

  it("of an Any in an Any is refused", () => {
    const url = "type.googleapis.com/google.protobuf.Any";
    let any: Uint8Array = new Uint8Array(0);
    for (let level = 0; level < 300; level++) any = join(field(1, url), field(2, any));
    expect(faultOf(() => mcpv1.decodeMessage("StreamError", field(3, any))).code).toBe("invalid-request");
  });

  it("of groups that nobody knows is refused, and a few are passed over", () => {
    expect(faultOf(() => mcpv1.decodeMessage("PingRequest", new Uint8Array(100_000).fill(0xa3))).code).toBe("parse");
    expect(mcpv1.decodeMessage("PingRequest", hex("a306 0801 ab06 ac06 a406"))).toEqual({});
  });

  it("is told with the id of a session's message", () => {
    const frame = join(field(1, "7"), field(13, field(1, "x"), field(2, field(1, field(2, structs)))));
    expect(mcpv1.decodeToServer(frame)).toMatchObject({ kind: "bad", id: "7", fault: { code: "invalid-request" } });
    const answer = join(field(2, "7"), field(13, field(3, lists)));
    expect(mcpv1.decodeToClient(answer, never)).toMatchObject({ kind: "bad", answers: "7", fault: { code: "invalid-request" } });
  });

  it("within the limit passes, counted as in the JSON message", () => {
    const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
    for (const twin of [false, true]) {
      // The message, its params and the arguments are three levels.
      const encoded = (levels: number): Uint8Array =>
        mcpv1.encodeMessage("CallToolRequest", { name: "x", arguments: deep(levels) }, { twin });
      expect(() => mcpv1.decodeMessage("CallToolRequest", encoded(7), { depth: 10 })).not.toThrow();
      expect(faultOf(() => mcpv1.decodeMessage("CallToolRequest", encoded(8), { depth: 10 })).code).toBe("invalid-request");
    }
  });

  it("that a program makes is refused before it exhausts the stack", () => {
    let value: object = {};
    for (let level = 0; level < 100_000; level++) value = { value };
    for (const twin of [false, true]) {
      expect(faultOf(() => mcpv1.encodeMessage("CallToolRequest", { name: "x", arguments: value }, { twin })).code).toBe("overload");
    }
  });
});

it("a message whose JSON is longer than any string is over the limit of bytes, not of depth", () => {
  const long = (): never => {
    // What JSON.stringify throws there: a real one would take half a gigabyte.
    throw new RangeError("Invalid string length");
  };
  const request = { name: "t", arguments: {}, _meta: { long: { toJSON: long } } };
  const fault = faultOf(() => mcpv1.encodeMessage("CallToolRequest", request, { twin: true }));
  expect([fault.code, fault.data]).toEqual(["overload", { limit: "messageBytes" }]);
});

describe("bytes that are no message", () => {
  it("are refused", () => {
    for (const bytes of [
      "0a", // a length that is missing
      "0a05 6162", // a text that is cut off
      "0a ffffffff7f 61", // a length beyond everything
      "0a ffffffffffffffffff01 61", // a length of 64 bits
      "08 ffffffffffffffffffff01", // a number of eleven bytes
      "08 01", // a text that is a number
      "0a02 c328", // bad UTF-8
      "0a03 eda080", // a surrogate in UTF-8
      "00", // field 0
      "07", // field 0 of wire type 7
      "2e", // wire type 6
      "2c", // a group that ends
      "a306 0801", // a group that does not end
      "29 0000", // eight bytes that are two
      "0a0161 0a0162", // the name, twice
      "1203 0a0a 0a", // an entry longer than its map
      "d206 01 7b", // JSON that is cut off
      "b206 02 5b5d", // arguments that are an array
      "c23e 02 5b5d", // other members that are an array
      "c23e 0c 7b 22 6e616d65 22 3a 22 61 22 7d 0a01 62", // a name in either place
      "1200 b206 02 7b7d", // arguments in either place
    ]) {
      expect(["parse", "invalid-request"], bytes).toContain(faultOf(() => mcpv1.decodeMessage("CallToolRequest", hex(bytes))).code);
    }
    const link = join(field(6, field(9, hex("11 0000000000000000"))), field(5, hex("11 0000000000000000")));
    expect(faultOf(() => mcpv1.decodeMessage("CallToolResponse", field(1, link))).code).toBe("invalid-request");
    expect(faultOf(() => mcpv1.decodeMessage("PingRequest", field(1, field(3, field(1, "traceparent")), field(1, "t")))).code).toBe(
      "invalid-request",
    );
    expect(faultOf(() => mcpv1.decodeMessage("ProgressNotification", hex("11 000000000000f87f"))).code).toBe("parse");
  });

  it("are passed over where nobody knows the field", () => {
    expect(mcpv1.decodeMessage("CallToolRequest", hex("0a0161 f801 01 fa01 02 aabb f901 0000000000000000 fd01 00000000"))).toEqual({
      name: "a",
    });
  });

  it("never hang, never throw anything but a Fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        for (const run of [
          () => mcpv1.decodeMessage("CallToolResponse", bytes),
          () => mcpv1.decodeMessage("InitializeRequest", bytes),
          () => mcpv1.decodePartMessage("resources/read", bytes),
          () => mcpv1.decodePartMessage("tools/list", bytes),
          () => mcpv1.decodeToServer(bytes),
          () => mcpv1.decodeToClient(bytes, never),
        ]) {
          try {
            run();
          } catch (error) {
            if (!(error instanceof Fault) || error.code === "internal") throw error;
          }
        }
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it("nor when a message was damaged on its way", () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.nat(255), fc.boolean(), ({ to, message, method }, where, octet, cut) => {
        const given = JSON.parse(JSON.stringify(message)) as never;
        const bytes = to === "server" ? mcpv1.encodeToServer(given, plain) : mcpv1.encodeToClient(given, method, plain);
        const broken = cut ? bytes.slice(0, where % bytes.length) : bytes.slice();
        if (!cut) broken[where % bytes.length] = octet;
        try {
          if (to === "server") mcpv1.decodeToServer(broken);
          else mcpv1.decodeToClient(broken, never);
        } catch (error) {
          if (!(error instanceof Fault) || error.code === "internal") throw error;
        }
      }),
      { seed: 2, numRuns: 1000 },
    );
  });
});

describe("a session's frame", () => {
  it("that cannot be read throws, and a payload that cannot does not", () => {
    expect(faultOf(() => mcpv1.decodeToServer(hex("0a05 61"))).code).toBe("parse");
    expect(mcpv1.decodeToServer(join(field(1, "1"), field(13, hex("0a05 61"))))).toMatchObject({
      kind: "bad",
      id: "1",
      fault: { code: "parse" },
    });
    expect(mcpv1.decodeToServer(join(field(1, "1"), field(23, "")))).toMatchObject({
      kind: "bad",
      id: "1",
      fault: { code: "unknown-method" },
    });
    expect(mcpv1.decodeToServer(field(70, hex("0a05 61")))).toMatchObject({ kind: "bad", silent: true });
    expect(faultOf(() => mcpv1.decodeToServer(join(field(1, "1"), field(11), field(12)))).code).toBe("invalid-request");
  });

  it("has ids with their type, and no id that lies about it", () => {
    expect(mcpv1.decodeToServer(join(field(1, "1"), varint(2, 1), field(11)))).toMatchObject({ id: 1, method: "ping" });
    expect(faultOf(() => mcpv1.decodeToServer(join(field(1, "one"), varint(2, 1), field(11)))).code).toBe("invalid-request");
    expect(faultOf(() => mcpv1.decodeToServer(join(field(1, "1"), field(1, "2"), field(11)))).code).toBe("invalid-request");
    expect(faultOf(() => mcpv1.decodeToServer(join(field(1, "1"), field(11), field(1000, '{"id":"2"}')))).code).toBe("invalid-request");
    expect(mcpv1.decodeToServer(join(field(1, "1"), field(11), field(1000, '{"params":{}}')))).toMatchObject({ kind: "bad", id: "1" });
    for (const id of ["9007199254740993", "1e400", "-0"])
      expect(faultOf(() => mcpv1.decodeToServer(join(field(1, id), varint(2, 1), field(11)))).code).toBe("invalid-request");
  });

  it("holds one message: a method, a result or an error", () => {
    const generic = (...parts: readonly Uint8Array[]): unknown => mcpv1.decodeToServer(join(field(1, "1"), field(80, ...parts)));
    expect(generic(field(1, "m"))).toMatchObject({ kind: "request", id: "1", method: "m" });
    expect(generic(field(3, "{}"))).toMatchObject({ kind: "result", id: "1" });
    expect(generic(field(1, "m"), field(3, "{}"))).toMatchObject({ kind: "bad", id: "1", answers: "1" });
    expect(generic()).toMatchObject({ kind: "bad" });
    expect(generic(field(3, "[]"))).toMatchObject({ kind: "bad" });
    expect(generic(field(4, '{"code":"1"}'))).toMatchObject({ kind: "bad" });
  });

  it("answers the method that was asked", () => {
    const answer = mcpv1.encodeToClient({ jsonrpc: "2.0", id: 1, result: { content: [] } }, "tools/call", plain);
    expect(mcpv1.decodeToClient(answer, () => "prompts/get")).toMatchObject({ kind: "bad", answers: 1 });
    expect(mcpv1.decodeToClient(answer, () => "tools/call")).toMatchObject({ kind: "result", id: 1 });
  });
});
