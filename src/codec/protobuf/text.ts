import { malformed } from "./fault.js";

/** The parts of Node's Buffer that are used where it exists: a call costs a fraction of one of TextDecoder or TextEncoder. */
interface NativeBuffer {
  readonly prototype: {
    utf8Slice?(this: Uint8Array, start: number, end: number): string;
    utf8Write?(this: Uint8Array, text: string, offset: number, length: number): number;
  };
}
const native = (globalThis as { readonly Buffer?: NativeBuffer }).Buffer?.prototype;
const slice = native?.utf8Slice;
const write = native?.utf8Write;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Up to this length a loop is faster than a native call. */
const SHORT = 8;

/** The text of the bytes. Throws a Fault for invalid UTF-8. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= SHORT) {
    let text = "";
    let at = start;
    for (; at < end; at++) {
      const octet = bytes[at] ?? 0;
      if (octet > 127) break;
      text += String.fromCharCode(octet);
    }
    if (at === end) return text;
  }
  if (slice === undefined) return decode(bytes, start, end);
  const text = slice.call(bytes, start, end);
  // Buffer puts U+FFFD in place of invalid UTF-8, but the text may also contain that character.
  return text.includes("\ufffd") ? decode(bytes, start, end) : text;
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw malformed("a string is not UTF-8", cause);
  }
}

/** Writes the text and returns its bytes. There must be room for it. */
export function writeText(into: Uint8Array, text: string, at: number): number {
  return write === undefined ? encoder.encodeInto(text, into.subarray(at)).written : write.call(into, text, at, into.length - at);
}

/** A high surrogate that no low one follows, or a low one that no high one precedes. */
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const isWellFormed = (String.prototype as { isWellFormed?(this: string): boolean }).isWellFormed;

/** Whether UTF-8 can hold the text. */
export function isText(text: string): boolean {
  return isWellFormed === undefined ? !lone.test(text) : isWellFormed.call(text);
}
