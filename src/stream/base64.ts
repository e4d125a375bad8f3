import { concat } from "./bytes.js";
import { type NativeBuffer, platform } from "./platform.js";

const native = platform.Buffer;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const form = /^[A-Za-z0-9+/]*={0,2}$/;
/** From this length on the regular expression takes longer than everything else. */
const LONG = 1024;

/** With padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return native === undefined ? encodePure(bytes) : native.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Throws a SyntaxError for anything but whole, padded groups of the standard alphabet. Spare bits of the last group are ignored. */
export function decodeBase64(text: string): Uint8Array {
  const judged = native === undefined || text.length < LONG;
  if (text.length % 4 !== 0 || (judged && !form.test(text))) throw new SyntaxError("the text is no base64");
  if (native === undefined) return decodePure(text);
  const bytes = native.from(text, "base64");
  if (!judged && !isWhole(text, bytes, native)) throw new SyntaxError("the text is no base64");
  // A plain array: no Buffer leaves this folder, and no view of the pool that small Buffers share.
  return bytes.byteLength === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

/** Buffer skips invalid characters, also accepts the URL alphabet, and sees only the lower half of wide characters. */
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

let values: Uint8Array | undefined;

/** For runtimes without Buffer. The text must be valid base64. */
export function decodePure(text: string): Uint8Array {
  if (values === undefined) {
    values = new Uint8Array(128);
    for (let value = 0; value < 64; value++) values[alphabet.charCodeAt(value)] = value;
  }
  const bytes = new Uint8Array((text.length / 4) * 3 - padding(text));
  let out = 0;
  for (let at = 0; at < text.length; at += 4) {
    let group = 0;
    for (let of = 0; of < 4; of++) group = (group << 6) | (values[text.charCodeAt(at + of)] ?? 0);
    // Only padding makes writes past the end. They are ignored.
    bytes[out++] = group >> 16;
    bytes[out++] = (group >> 8) & 255;
    bytes[out++] = group & 255;
  }
  return bytes;
}
