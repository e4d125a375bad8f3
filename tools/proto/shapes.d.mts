import type { Arbitrary } from "fast-check";
import type { Part } from "../../src/codec/index.js";
import type { MessageName, RestPart } from "../../src/codec/mcpv1/index.js";
import type { Case } from "./harness.mjs";

export class OddNumber {
  readonly text: string;
}
export const json: Arbitrary<unknown>;
export const cases: Arbitrary<Case>;
export const objects: Partial<Record<MessageName, Arbitrary<object>>>;
export const parts: Arbitrary<{ readonly method: string; readonly part: Part | RestPart }>;
/** Params of a client's requests and results, by method. */
export const requests: Readonly<Record<string, Arbitrary<object>>>;
export const results: Readonly<Record<string, Arbitrary<object>>>;
