/**
 * Pipes, scopes and bytes. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { allocateGarbage } from "./allocate-garbage.js";
export { Backoff, type BackoffOptions } from "./backoff.js";
export {
  type Base64Stream,
  base64Length,
  base64Stream,
  decodeBase64,
  decodeInto,
  encodeBase64,
  isBase64,
  isShortBase64,
} from "./base64.js";
export { type Base64Decoder, base64Decoder } from "./base64-decoder.js";
export { concat } from "./bytes.js";
export { type Deadline, deadline } from "./deadline.js";
export { type Deferred, deferred, ignore, rejected } from "./deferred.js";
export { codeOf } from "./error-code.js";
export type { Iteration, IterationStep } from "./iteration.js";
export { merge } from "./merge.js";
export { dropOldest } from "./oldest.js";
export { PIECE_BYTES, Pieces } from "./pieces.js";
export { type Pipe, type PipeOptions, pipe } from "./pipe.js";
export { platform, unref } from "./platform.js";
export { Registry } from "./registry.js";
export { LONGEST_TIMER_MS, timerMs } from "./timer.js";
export { overtime } from "./turns.js";
export { until } from "./until.js";
export { cutText, type Utf8Decoder, utf8Decoder, utf8Length } from "./utf8.js";
export { within } from "./within.js";
