import { malformed } from "./fault.js";

/** What of Node's Buffer is used where there is one: a call of it costs a fraction of one of TextDecoder or TextEncoder. */
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

/** Up to this length a loop is faster than a call out of JavaScript. */
const SHORT = 8;

/** The text of the bytes; throws a Fault on what is no UTF-8. */
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
  // Where there is bad UTF-8 Buffer puts U+FFFD, which may also be text.
  return text.includes("\ufffd") ? decode(bytes, start, end) : text;
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw malformed("a string is not UTF-8", cause);
  }
}

/** Writes the text, for which there is room, and gives the bytes that it took. */
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
