/** The head of a request in the plainest form of HTTP/1.1. */
export interface PlainHead {
  /** The path and the query. */
  readonly target: string;
  /** Names are in lower case, and each occurs once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values alternate. */
  readonly raw: readonly string[];
  /** Bytes of the body. */
  readonly length: number;
}

/** The head is plain, but the small body has not arrived completely. Many clients send the two separately. */
export const BODY_FOLLOWS = "body follows";

/** The largest body, in bytes, to wait for. */
const FOLLOWING_BYTES = 16 * 1024;

/** A request that has arrived whole, with nothing behind it. */
export interface PlainRequest {
  readonly head: PlainHead;
  readonly body: Buffer;
}

/** A plain request has no more headers than this. */
const MOST_HEADERS = 64;
const BODY_DIGITS = 9;

const requestLine = /^POST (\/[!-~]*) HTTP\/1\.1$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;
/** Headers that change how the rest is read, or ask for more than an answer. */
const special: ReadonlySet<string> = new Set(["transfer-encoding", "upgrade", "expect", "trailer", "te", "http2-settings", "__proto__"]);

/** Reads the requests of one connection. Clients repeat themselves, so a head that equals the previous one is not parsed again. */
export class PlainReader {
  readonly #headerBytes: number;
  #text = "";
  #head: PlainHead | undefined;

  constructor(headerBytes: number) {
    this.#headerBytes = headerBytes;
  }

  /**
   * The request in these bytes, which must be all of it and nothing else. Undefined for anything but a POST in its plainest form, so that
   * Node's full parser handles it. Request smuggling needs two parsers that disagree, so nothing is guessed here: a repeated header, a
   * folded line, an unusual line end or byte is left to the other parser.
   */
  read(bytes: Buffer): PlainRequest | typeof BODY_FOLLOWS | undefined {
    const end = bytes.indexOf("\r\n\r\n", 0, "latin1");
    if (end < 0 || end > this.#headerBytes) return undefined;
    const text = bytes.toString("latin1", 0, end);
    if (text !== this.#text) {
      this.#text = text;
      this.#head = readHead(text);
    }
    const head = this.#head;
    if (head === undefined) return undefined;
    const missing = end + 4 + head.length - bytes.length;
    if (missing !== 0) return missing > 0 && head.length <= FOLLOWING_BYTES ? BODY_FOLLOWS : undefined;
    return { head, body: bytes.subarray(end + 4) };
  }
}

function readHead(text: string): PlainHead | undefined {
  const lines = text.split("\r\n");
  const target = requestLine.exec(lines[0] as string)?.[1];
  if (target === undefined || lines.length > MOST_HEADERS) return undefined;
  const headers: Record<string, string> = {};
  const raw: string[] = [];
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] as string;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    const rest = line.slice(colon + 1);
    if (!headerName.test(name) || !headerValue.test(rest)) return undefined;
    // Only blanks and tabs count as white space.
    const value = rest.trim();
    const lower = name.toLowerCase();
    if (special.has(lower) || headers[lower] !== undefined) return undefined;
    headers[lower] = value;
    raw.push(name, value);
  }
  const { host, connection, "content-length": length } = headers;
  if (host === undefined || length === undefined || length.length > BODY_DIGITS || !/^[0-9]+$/.test(length)) return undefined;
  if (connection !== undefined && connection.toLowerCase() !== "keep-alive") return undefined;
  return { target, headers, raw, length: Number(length) };
}
