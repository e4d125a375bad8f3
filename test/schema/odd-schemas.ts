import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../src/codec/index.js";

/** An odd schema, and values that its author would say fit or do not. */
export interface OddSchema {
  readonly name: string;
  readonly schema: unknown;
  readonly good?: readonly unknown[];
  readonly bad?: readonly unknown[];
  /** A pattern for the message of the Fault, if it cannot be converted. */
  readonly fault?: string;
  /** A pattern for why ajv cannot compile it, so that nothing is accepted. */
  readonly unusable?: string;
  /** What ajv does otherwise than JSON Schema says, so that it is not asked. */
  readonly ajv?: string;
}

const props = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
const one = (schema: unknown): object => props({ v: schema });
const v = (...values: readonly unknown[]): object[] => values.map((value) => ({ v: value }));
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, make: (index: number) => [string, unknown]): object => props(Object.fromEntries(many(count, make)));
const kind = (schema: object): object => props({ k: schema }, { required: ["k"] });

const strange = ["a-b", "a_b", "aB", "A.B", "", " ", "1x", "ünï", "日本", "message", "oneof", "reserved", "optional", "max"];
strange.push("additional_properties", "additionalProperties", "variant", "x".repeat(3_000), "[ext]", "a\u0000b", "💥");

/** Rows that are too long to be written out, or are no JSON. */
const made: readonly OddSchema[] = [
  {
    name: "1,000 branches",
    schema: one({ anyOf: many(1_000, (index) => props({ [`p${index}`]: { type: "string" } }, { required: [`p${index}`] })) }),
    good: v({ p999: "" }),
    bad: v({}, { q: 1 }),
  },
  {
    name: "names that are illegal, keywords of protobuf, or become one name",
    schema: props(Object.fromEntries(strange.map((name) => [name, { type: "string" }]))),
    good: [{ ...Object.fromEntries(strange.map((name, index) => [name, String(index)])), other: 1 }],
    bad: [{ "": 1 }, { "a\u0000b": 1 }, { additional_properties: {} }],
  },
  { name: "10,000 properties", schema: named(10_000, (index) => [`p${index}`, { type: "string" }]), unusable: "call stack" },
  {
    name: "1,000 properties",
    schema: named(1_000, (index) => [`p${index}`, { type: "string" }]),
    good: [{ p0: "", p999: "x" }],
    bad: [{ p500: 1 }],
  },
  {
    name: "10,000 names that become one",
    schema: named(10_000, (index) => [String.fromCodePoint(0x4e00 + index), true]),
    good: [{ 一: 1, 丁: null }],
  },
  {
    name: "10,000 names within each other's numbers",
    schema: named(10_000, (index) => [`a${"-".repeat(index % 100)}${index % 100 === 0 ? "" : "b"}${Math.floor(index / 100)}`, true]),
    good: [{ a0: 1 }],
  },
  {
    name: "nested 100,000 levels deep",
    schema: many(100_000, () => 0).reduce<object>((inner) => ({ items: inner }), {}),
    fault: "nested more than 128 levels",
  },
  {
    name: "1,001 texts",
    schema: one({ anyOf: many(1_001, (index) => ({ const: `t${index}` })) }),
    good: v("t0", "t1000"),
    bad: v("t1001"),
  },
  {
    name: "objects told apart by more than 1,000 texts",
    schema: one({ oneOf: [kind({ enum: many(1_001, (index) => `t${index}`) }), kind({ const: "c" })] }),
    good: v({ k: "t1000" }, { k: "c" }),
    bad: v({ k: "d" }),
  },
  {
    name: "-0 as a number of JavaScript",
    schema: props({ a: { type: "integer", const: -0 }, b: { type: "number", enum: [-0, 1] }, c: { type: "number", minimum: -0 } }),
    good: [{ a: 0, b: 0, c: 0 }],
    bad: [{ a: 1 }, { b: 2 }, { c: -1 }],
  },
  {
    name: "infinite numbers of JavaScript",
    schema: props({ a: { type: "number", maximum: Number.POSITIVE_INFINITY }, b: { minimum: Number.NEGATIVE_INFINITY } }),
    good: [{ a: 1, b: 1 }],
    bad: [{ a: "" }],
    ajv: "gets null for them from JSON",
  },
];

/** The others are lines of JSON, as a peer would send them: with numbers that no double holds. */
const written = readFileSync(join(import.meta.dirname, "fixtures/odd-schemas.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => parseJson(line) as OddSchema);

export const odd: readonly OddSchema[] = [...written, ...made];
