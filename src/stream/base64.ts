import { concat } from "./bytes.js";
import { type NativeBuffer, platform } from "./platform.js";

const native = platform.Buffer;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const form = /^[A-Za-z0-9+/]*={0,2}$/;
/** From this length on the regular expression takes longer than everything else. */
const LONG = 1024;
/** Up to this length a loop is faster than a call out of JavaScript, which would have to be copied from. */
const SHORT = 84;

/** Where few bytes are encoded: a view of each would cost more than to copy them. */
const scratch = native?.allocUnsafeSlow(512);

/** With padding. */
export function encodeBase64(bytes: Uint8Array): string {
  if (native === undefined || scratch === undefined) return encodePure(bytes);
  const { byteLength } = bytes;
  if (byteLength > scratch.byteLength) return native.from(bytes.buffer, bytes.byteOffset, byteLength).toString("base64");
  scratch.set(bytes);
  return scratch.toString("base64", 0, byteLength);
}

/** Whether decodeBase64 takes a text. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (native === undefined || text.length < LONG) return form.test(text);
  return isWhole(text, native.from(text, "base64"), native);
}

/** Throws a SyntaxError for anything but whole, padded groups of the standard alphabet. Spare bits of the last group are ignored. */
export function decodeBase64(text: string): Uint8Array {
  const judged = native === undefined || text.length < LONG;
  if (text.length % 4 !== 0 || (judged && !form.test(text))) throw new SyntaxError("the text is not base64");
  if (native === undefined || text.length <= SHORT) return decodePure(text);
  const bytes = native.from(text, "base64");
  if (!judged && !isWhole(text, bytes, native)) throw new SyntaxError("the text is not base64");
  // A plain array: no Buffer leaves this folder, and no view of the pool that small ones share.
  return bytes.byteLength === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

/** Buffer skips what is not base64, takes the alphabet of URLs as well, and of wide characters sees the lower half. */
function isWhole(text: string, bytes: Uint8Array, { byteLength }: NativeBuffer): boolean {
  return (
    bytes.byteLength === (text.length / 4) * 3 - padding(text) &&
    byteLength(text) === text.length &&
    !text.includes("-") &&
    !text.includes("_")
  );
}

function padding(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}

/** Base64 of a stream. The joined pieces are the base64 of the whole. */
export interface Base64Stream {
  /** Base64 of whole groups of three bytes; up to two bytes wait for the next chunk. */
  push(chunk: Uint8Array): string;
  /** The last group, with its padding. */
  finish(): string;
}

export function base64Stream(): Base64Stream {
  let carry = new Uint8Array(0);
  return {
    push(chunk) {
      const bytes = carry.byteLength === 0 ? chunk : concat([carry, chunk]);
      const whole = bytes.byteLength - (bytes.byteLength % 3);
      // A copy, because the owner may reuse the chunk.
      carry = bytes.slice(whole);
      return whole === 0 ? "" : encodeBase64(bytes.subarray(0, whole));
    },
    finish() {
      const last = encodeBase64(carry);
      carry = new Uint8Array(0);
      return last;
    },
  };
}

/** For runtimes without Buffer. */
export function encodePure(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += alphabet.charAt(group >> 18) + alphabet.charAt((group >> 12) & 63);
    text += left > 1 ? alphabet.charAt((group >> 6) & 63) : "=";
    text += left > 2 ? alphabet.charAt(group & 63) : "=";
  }
  return text;
}

const EQUALS = 0x3d;
/** The value of each character, 64 for those that are none of the alphabet. */
const values = new Uint8Array(128).fill(64);
for (let value = 0; value < 64; value++) values[alphabet.charCodeAt(value)] = value;

/** Whether a text is base64 with padding, and without spare bits in its last group. For short ones: a loop is faster than an expression. */
export function isShortBase64(text: string): boolean {
  const { length } = text;
  if (length % 4 !== 0) return false;
  let end = length;
  while (end > 0 && length - end < 2 && text.charCodeAt(end - 1) === EQUALS) end--;
  let last = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    last = code < 128 ? (values[code] as number) : 64;
    if (last === 64) return false;
  }
  return length === end || (last & (length - end === 1 ? 3 : 15)) === 0;
}

/** For runtimes without Buffer. The text must be valid base64. */
export function decodePure(text: string): Uint8Array {
  return decodeInto(text, new Uint8Array(base64Length(text)), 0);
}

/** How many bytes a text of base64 is. */
export function base64Length(text: string): number {
  return (text.length / 4) * 3 - padding(text);
}

/** Writes the bytes of a text that was found to be base64; what is behind them in the last group of three is overwritten. */
export function decodeInto(text: string, bytes: Uint8Array, at: number): Uint8Array {
  let out = at;
  for (let from = 0; from < text.length; from += 4) {
    let group = 0;
    // Padding counts as nothing.
    for (let of = 0; of < 4; of++) group = (group << 6) | ((values[text.charCodeAt(from + of)] ?? 0) & 63);
    // Writes past the end, which only the padding makes, are ignored.
    bytes[out++] = group >> 16;
    bytes[out++] = (group >> 8) & 255;
    bytes[out++] = group & 255;
  }
  return bytes;
}
