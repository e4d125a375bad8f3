/** A stretch of a string: where it ends, and its length in bytes of UTF-8. */
export interface Stretch {
  readonly end: number;
  readonly bytes: number;
}

/** The longest stretch of whole code points from `from` on that has at most `limit` bytes of UTF-8. */
export function stretch(text: string, from: number, limit: number): Stretch {
  let bytes = 0;
  let at = from;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const pair = isHigh(unit) && isLow(text.charCodeAt(at + 1));
    // A lone surrogate becomes U+FFFD, which is three bytes too.
    const width = unit < 0x80 ? 1 : unit < 0x800 ? 2 : pair ? 4 : 3;
    if (bytes + width > limit) break;
    bytes += width;
    at += pair ? 2 : 1;
  }
  return { end: at, bytes };
}

/** Pieces of at most `limit` bytes of UTF-8; a single code point is never cut, however small the limit. */
export function* textPieces(text: string, limit: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    // A UTF-16 unit makes at most three bytes, so a short text need not be counted.
    let end = (text.length - at) * 3 <= limit ? text.length : stretch(text, at, limit).end;
    if (end === at) end += isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1;
    yield at === 0 && end === text.length ? text : text.slice(at, end);
    at = end;
  }
}

/** Pieces of at most `limit` bytes. No bytes are copied. */
export function* cutBytes(bytes: Uint8Array, limit: number): Generator<Uint8Array> {
  if (bytes.byteLength > 0 && bytes.byteLength <= limit) yield bytes;
  else for (let at = 0; at < bytes.byteLength; at += limit) yield bytes.subarray(at, at + limit);
}

export function endsInHigh(text: string): boolean {
  return text.length > 0 && isHigh(text.charCodeAt(text.length - 1));
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
