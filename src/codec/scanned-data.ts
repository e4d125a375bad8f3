import { Fault } from "../core/index.js";
import { decodeBase64, type Utf8Decoder, utf8Decoder } from "../stream/index.js";

/** Reads the content of one JSON string as it arrives. */
export interface Data {
  /**
   * Reads up to the end of the string (`closed`), or as far as possible. The bytes from `end` on have to be read again, together with what
   * follows.
   */
  read(bytes: Uint8Array): { readonly end: number; readonly closed: boolean; readonly chunk: string | Uint8Array | undefined };
}

const [QUOTE, ESCAPE, LETTER_U] = [0x22, 0x5c, 0x75];

export function dataReader(form: "text" | "blob"): Data {
  const decoder = utf8Decoder();
  const octets = form === "blob" ? base64Reader() : undefined;
  return {
    read(bytes) {
      const { end, closed, escapes } = stretch(bytes);
      const inside = decode(decoder, bytes.subarray(0, end), closed);
      // Only text can contain invalid characters. Base64 is checked anyway.
      const text = escapes || octets === undefined ? unescaped(inside) : inside;
      return { end: closed ? end + 1 : end, closed, chunk: octets === undefined ? text : octets(text, closed) };
    },
  };
}

/** How far a string goes, without an incomplete escape. */
function stretch(bytes: Uint8Array): { readonly end: number; readonly closed: boolean; readonly escapes: boolean } {
  let quote = bytes.indexOf(QUOTE);
  let slash = bytes.indexOf(ESCAPE);
  const escapes = slash >= 0 && (quote < 0 || slash < quote);
  while (slash >= 0 && (quote < 0 || slash < quote)) {
    const width = escapeWidth(bytes, slash);
    if (slash + width > bytes.length) return { end: slash, closed: false, escapes };
    const next = slash + width;
    if (quote >= 0 && quote < next) quote = bytes.indexOf(QUOTE, next);
    slash = bytes.indexOf(ESCAPE, next);
  }
  return { end: quote < 0 ? bytes.length : quote, closed: quote >= 0, escapes };
}

/** The bytes of the escape at `at`. Both halves of a surrogate pair count as one. Beyond the end if more bytes are needed to tell. */
function escapeWidth(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2;
  const high = /^d[89ab]/i.test(String.fromCharCode(bytes[at + 2] ?? 0, bytes[at + 3] ?? 0));
  if (!high) return 6;
  const [slash, letter] = [bytes[at + 6], bytes[at + 7]];
  const pair = (slash === undefined || slash === ESCAPE) && (letter === undefined || letter === LETTER_U);
  return pair ? 12 : 6;
}

function decode(decoder: Utf8Decoder, bytes: Uint8Array, closed: boolean): string {
  try {
    const text = decoder.push(bytes);
    if (closed) decoder.finish();
    return text;
  } catch (error) {
    throw new Fault("parse", "the answer is not UTF-8", { cause: error });
  }
}

function unescaped(inside: string): string {
  try {
    return String(JSON.parse(`"${inside}"`));
  } catch (error) {
    throw new Fault("parse", "the server's answer is not a message", { cause: error });
  }
}

/** Base64 in pieces of any length. */
function base64Reader(): (text: string, closed: boolean) => Uint8Array {
  let left = "";
  let padded = false;
  return (text, closed) => {
    const all = left + text;
    const whole = all.slice(0, all.length - (all.length % 4));
    left = all.slice(whole.length);
    if ((padded && whole !== "") || (closed && left !== "")) throw notBase64();
    padded = whole.endsWith("=");
    try {
      return decodeBase64(whole);
    } catch (error) {
      throw notBase64(error);
    }
  };
}

function notBase64(cause?: unknown): Fault {
  return new Fault("parse", "a blob of the server is not base64", { cause });
}
