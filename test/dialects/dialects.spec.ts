import { createFileRegistry, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeAs, dialect, encodeAs, field, type MessageSpec } from "../../src/codec/protobuf/index.js";
import { ExactNumber, Fault } from "../../src/core/index.js";
import { buf } from "../mapping/buf.js";
import { bufMcp } from "./buf-mcp/index.js";
import { type Described, valuesOf } from "./described.js";
import { toy } from "./toy/index.js";

/** A dialect is its folder and its place in this list. */
const dialects: readonly Described[] = [toy, bufMcp];
const options = { twin: false };
const DEPTH = 100;

/** What the protobuf-es runtime, which knows the proto and nothing of the table, makes of the bytes. */
function peerOf({ name, proto }: Described): (message: string) => DescMessage {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, buf("build", proto, "-o", "-")));
  return (message) => registry.getMessage(`${name}.${message}`) as DescMessage;
}

for (const given of dialects) {
  describe(`the dialect ${given.name}`, () => {
    const { tableOf } = dialect(given);
    const peer = peerOf(given);

    it("has the fields of its proto, under their names and numbers", () => {
      for (const message of given.messages) {
        const fields = (peer(message.name)?.fields ?? []).map(({ name, number, oneof }) => `${name} ${number} ${oneof?.name}`);
        expect(message.fields.map(({ name, number, oneof }) => `${name} ${number} ${oneof}`).sort(), message.name).toEqual(fields.sort());
      }
    });

    for (const message of given.messages) {
      it(`brings every ${message.name} through a foreign runtime, there and back`, () => {
        const table = tableOf(message.name);
        const schema = peer(message.name);
        fc.assert(
          fc.property(valuesOf(given, message), (value) => {
            const ours = encodeAs(table, value, options);
            expect(decodeAs(table, ours, DEPTH)).toStrictEqual(value);
            const read = fromBinary(schema, ours);
            expect(read.$unknown ?? []).toEqual([]);
            expect(decodeAs(table, toBinary(schema, read), DEPTH)).toStrictEqual(value);
          }),
          { numRuns: 60 },
        );
      });
    }
  });
}

describe("dialects", () => {
  const message = (name: string, ...fields: MessageSpec["fields"]): MessageSpec => ({ name, stands: "", fields });
  const made = (...messages: readonly MessageSpec[]) => dialect({ name: "t", messages });

  it("keep their names to themselves", () => {
    const one = dialect({ name: "one", messages: [message("Same", field("string", "a", 1))] });
    const two = dialect({ name: "two", messages: [message("Same", field("bool", "b", 1))] });
    expect(encodeAs(one.tableOf("Same"), { a: "x" }, options)).toEqual(Uint8Array.of(0x0a, 1, 0x78));
    expect(encodeAs(two.tableOf("Same"), { b: true }, options)).toEqual(Uint8Array.of(0x08, 1));
    expect(() => two.tableOf("Other")).toThrow("two has no message Other");
  });

  it("have each a number of their own for what has no field, or refuse it", () => {
    const messages = [message("M", field("string", "a", 1))];
    const at = dialect({ name: "at", messages, others: 200 }).tableOf("M");
    const bytes = encodeAs(at, { a: "x", b: 1 }, options);
    expect([...bytes.subarray(3, 5)]).toEqual([0xc2, 0x0c]);
    expect(decodeAs(at, bytes, DEPTH)).toStrictEqual({ a: "x", b: 1 });
    const none = dialect({ name: "none", messages }).tableOf("M");
    expect(() => encodeAs(none, { a: "x", b: 1 }, options)).toThrow(Fault);
    expect(() => encodeAs(none, { a: 5 }, options)).toThrow("M cannot hold a");
  });

  it("are refused where more than 32 members could not be told apart", () => {
    const numbered = (count: number) => Array.from({ length: count }, (_, at) => field("string", `m${at}`, at + 1));
    const full = made(message("Full", ...numbered(32))).tableOf("Full");
    const value = Object.fromEntries(numbered(32).map(({ member }) => [member, member]));
    expect(decodeAs(full, encodeAs(full, value, options), DEPTH)).toStrictEqual(value);
    const twice = encodeAs(full, { m31: "x" }, options);
    expect(() => decodeAs(full, Buffer.concat([twice, twice]), DEPTH)).toThrow("comes twice");
    expect(() => made(message("Large", ...numbered(33)))).toThrow("Large has more than 32 members");
  });

  it("are refused with a number, member or name twice, and with what is not there", () => {
    expect(() => made(message("M", field("string", "a", 1), field("string", "b", 1)))).toThrow("the number 1 is taken twice");
    expect(() => made(message("M", field("struct", "a", 1, { twin: 2 }), field("string", "b", 2)))).toThrow("the number 2 is taken twice");
    expect(() => made(message("M", field("string", "a", 1), field("string", "a", 2)))).toThrow("a has two fields");
    expect(() => made(message("M"), message("M"))).toThrow("two messages are named M");
    expect(() => made(message("M", field("message", "a", 1, { of: "N" })))).toThrow("a is of N, which is not a message here");
    expect(() => made(message("M", field("map", "a", 1, { values: "enum", of: "E" })))).toThrow("a is of E, which is no enum here");
    expect(() => made(message("M", field("string", "a", 0)))).toThrow("0 is no field number");
    expect(() => dialect({ name: "t", messages: [message("M", field("string", "a", 9))], others: 9 })).toThrow("that of all other members");
  });

  it("take one payload, also of more than 32", () => {
    const table = dialect(toy).tableOf("Envelope");
    const two = Buffer.concat([encodeAs(table, { p2: { name: "" } }, options), encodeAs(table, { p2000: { name: "" } }, options)]);
    expect(() => decodeAs(table, two, DEPTH)).toThrow("comes twice");
    expect(() => encodeAs(table, { p2: {}, p119: {} }, options)).toThrow("Envelope cannot hold p119");
  });

  it("read the defaults of a map's entry, and integers that no double holds", () => {
    const table = dialect(toy).tableOf("Toy");
    const entry = (number: number): number[] => [number * 8 + 2, 3, 0x0a, 1, 0x6b];
    expect(decodeAs(table, Uint8Array.from([...entry(4), ...entry(5), ...entry(6), ...entry(8), ...entry(13)]), DEPTH)).toStrictEqual({
      name: "",
      counts: { k: 0 },
      parts: { k: { label: "", serial: 0 } },
      moodsByDay: { k: 0 },
      values: { k: null },
      flags: { k: false },
    });
    const huge = Uint8Array.of(0x10, ...new Array(9).fill(0xff), 0x01);
    expect(decodeAs(dialect(toy).tableOf("Part"), huge, DEPTH)["serial"]).toEqual(new ExactNumber("18446744073709551615"));
  });
});
