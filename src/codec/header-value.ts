import { decodeBase64, encodeBase64 } from "../stream/index.js";

const sentinel = /^=\?base64\?(.*)\?=$/s;
/** U+FEFF at the beginning is part of a value. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** A text as a header or metadata value: unchanged where that is safe, otherwise in base64. */
export function encodeHeader(value: string): string {
  if ((plain.test(value) || value === "") && !sentinel.test(value)) return value;
  return `=?base64?${encodeBase64(new TextEncoder().encode(value))}?=`;
}

/** The text of a header value; undefined if it is not encoded correctly. */
export function decodeHeader(header: string): string | undefined {
  const encoded = sentinel.exec(header)?.[1];
  if (encoded === undefined) return /^[\x20-\x7e\t]*$/.test(header) ? header : undefined;
  try {
    return utf8.decode(decodeBase64(encoded));
  } catch {
    return undefined;
  }
}

/** Whether a header value stands for `text`. UTF-8 cannot hold a lone surrogate: the header has U+FFFD in its place. */
export function headerSays(header: string, text: string): boolean {
  if (header === text && !sentinel.test(header)) return true;
  const said = decodeHeader(header);
  return said !== undefined && (said === text || (said.includes("\ufffd") && said === wellFormed(text)));
}

function wellFormed(text: string): string {
  return utf8.decode(new TextEncoder().encode(text));
}
