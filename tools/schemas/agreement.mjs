// Asks ajv and protobuf (the message, then protovalidate) of the same values, and whether the values survive the way there and back.

import { isDeepStrictEqual } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { messageSchema, schemaCodec } from "../../dist/schema/index.js";
import { chance, generate, mutated } from "./generate.mjs";

/** One for all: it compiles each rule once. */
const validator = createValidator();
const options = { strict: false, allErrors: false, logger: false, validateSchema: false, ownProperties: true };

/** Without `formats` they are annotations, as JSON Schema has them and as Anywire itself takes them. */
export function ajvOf(schema, formats = true) {
  const ajv = /draft-07/.test(schema.$schema ?? "")
    ? new Ajv({ ...options, validateFormats: formats })
    : new Ajv2020({ ...options, validateFormats: formats });
  if (formats) addFormats.default(ajv);
  return ajv.compile(schema);
}

export const zero = () => ({ values: 0, on: 0, off: 0, own: 0, accepted: 0, survived: 0, back: 0, exceptions: new Map() });

/** Compares on `count` values of one converted schema, and adds to the sums. */
export async function compare(converted, label, count, seed, sums) {
  const valid = ajvOf(converted.schema);
  const plain = ajvOf(converted.schema, false);
  const codec = schemaCodec(converted);
  const again = ajvOf(messageSchema(converted.message));
  const random = chance(seed);
  for (let index = 0; index < count; index++) {
    const base = generate(converted.schema, converted.schema, random);
    const value = index % 3 === 0 ? base : mutated(base, random);
    const expected = valid(value);
    const { bytes, reason } = encoded(codec, validator, value);
    sums.values++;
    const off = reason === undefined;
    const own = (await codec.check(value)).problem === undefined;
    const on = off && (converted.residual.length === 0 || own);
    if (own === plain(value)) sums.own++;
    else
      note(
        sums,
        `the whole schema, checked by Anywire: ${own ? "accepted" : "refused"}`,
        `${label} ${JSON.stringify(value).slice(0, 300)}`,
      );
    if (again(converted.wrapped ? { value } : value) === expected) sums.back++;
    if (off === expected) sums.off++;
    if (on === expected) sums.on++;
    else
      note(
        sums,
        `${expected ? "refused" : "accepted"} although ajv ${expected ? "accepts" : "refuses"}: ${(reason ?? valid.errors?.[0]?.keyword ?? "").replace(/^value\S*: /, "").slice(0, 90)}`,
        `${label} ${JSON.stringify(value).slice(0, 300)} ${reason ?? JSON.stringify(valid.errors?.[0])}`,
      );
    if (!expected) continue;
    sums.accepted++;
    if (bytes !== undefined && isDeepStrictEqual(codec.decode(bytes), value)) sums.survived++;
    else if (bytes !== undefined) note(sums, "changed on the way", `${label} ${JSON.stringify(value).slice(0, 300)}`);
  }
}

function encoded(codec, validator, value) {
  let bytes;
  try {
    bytes = codec.encode(value);
    const result = validator.validate(codec.message, fromBinary(codec.message, bytes));
    return result.kind === "valid" ? { bytes } : { bytes, reason: result.error.message };
  } catch (error) {
    return { bytes, reason: error.message };
  }
}

function note({ exceptions }, kind, example) {
  const known = exceptions.get(kind);
  if (known === undefined) exceptions.set(kind, { count: 1, example });
  else known.count++;
}
