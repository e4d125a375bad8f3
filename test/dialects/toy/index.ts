import { type Field, field, type MessageSpec } from "../../../src/codec/protobuf/index.js";
import type { Described } from "../described.js";

const payloads = [...Array.from({ length: 19 }, (_, at) => at + 2), ...Array.from({ length: 20 }, (_, at) => at + 100), 2000];

const messages: readonly MessageSpec[] = [
  {
    name: "Envelope",
    stands: "a message with more payloads than a number has bits",
    fields: [
      field("uint64", "id", 1, { initial: 0 }),
      ...payloads.map((number): Field => field("message", `p${number}`, number, { of: "Toy", oneof: "payload" })),
    ],
  },
  {
    name: "Toy",
    stands: "a field of every kind that mcp.v1 does not have",
    fields: [
      field("string", "name", 1, { initial: "" }),
      field("enum", "mood", 2, { of: "Mood" }),
      field("enums", "moods", 3, { of: "Mood" }),
      field("map", "counts", 4, { values: "int64" }),
      field("map", "parts", 5, { values: "message", of: "Part" }),
      field("map", "moodsByDay", 6, { values: "enum", of: "Mood" }),
      field("map", "blobs", 7, { values: "octets" }),
      field("map", "values", 8, { values: "value" }),
      field("packed", "cargo", 9),
      field("bytes", "raw", 10),
      field("octets", "encoded", 11),
      field("map", "weights", 12, { values: "double" }),
      field("map", "flags", 13, { values: "bool" }),
      field("map", "cargoes", 14, { values: "packed" }),
    ],
  },
  {
    name: "Part",
    stands: "a value of a map",
    fields: [field("string", "label", 1, { initial: "" }), field("uint64", "serial", 2, { initial: 0 })],
  },
];

export const toy: Described = { name: "toy.v1", messages, enums: { Mood: ["", "glad", "cross"] }, proto: "test/dialects/toy" };
