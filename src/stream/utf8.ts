import { platform } from "./platform.js";

const native = platform.Buffer;

/** Bytes of the text in UTF-8. A lone surrogate counts as U+FFFD, as which it is written. */
export function utf8Length(text: string): number {
  return native === undefined ? lengthPure(text) : native.byteLength(text);
}

/** For runtimes without Buffer. */
export function lengthPure(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const step = widthAt(text, at);
    bytes += step.bytes;
    at += step.units;
  }
  return bytes;
}

/**
 * Cuts at a code point: the head is the longest with at most `maxBytes` bytes of UTF-8, and has at least one code point. The cost depends
 * on the head only.
 */
export function cutText(text: string, maxBytes: number): readonly [head: string, rest: string] {
  if (text.length * 3 <= maxBytes) return [text, ""];
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const step = widthAt(text, at);
    bytes += step.bytes;
    if (bytes > maxBytes && at > 0) break;
    at += step.units;
  }
  return [text.slice(0, at), text.slice(at)];
}

interface Width {
  readonly units: number;
  readonly bytes: number;
}
const widths = [
  { units: 1, bytes: 1 },
  { units: 1, bytes: 2 },
  { units: 1, bytes: 3 },
  { units: 2, bytes: 4 },
] as const;

/** The width of the code point at `at`, in code units of the string and in bytes of UTF-8. */
function widthAt(text: string, at: number): Width {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return widths[0];
  if (unit < 0x800) return widths[1];
  if (unit < 0xd800 || unit > 0xdbff) return widths[2];
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? widths[3] : widths[2];
}

/**
 * Decodes a stream of bytes as text. Throws a TypeError for invalid UTF-8, and cannot be used after that. A byte order mark is kept as
 * text.
 */
export interface Utf8Decoder {
  /** Returns whole code points; the bytes of a partial one wait for the next chunk. */
  push(chunk: Uint8Array): string;
  /** Throws if the stream ended inside a code point. */
  finish(): void;
}

/** Decodes UTF-8 that arrives in chunks. Throws on bytes that are not UTF-8. */
export function utf8Decoder(): Utf8Decoder {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return {
    push: (chunk) => decoder.decode(chunk, { stream: true }),
    finish: () => void decoder.decode(),
  };
}
