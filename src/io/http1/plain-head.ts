/** The head of a request that needs nothing of HTTP/1.1 but its plainest form. */
export interface PlainHead {
  /** With the query. */
  readonly target: string;
  /** Names in lower case, each once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn. */
  readonly raw: readonly string[];
  /** Bytes of the body. */
  readonly length: number;
}

/** A request whose head is plain and whose body, which is small, has not come whole. Many clients send the two apart. */
export const BODY_FOLLOWS = "body follows";

/** Bytes of a body that is waited for. */
const FOLLOWING_BYTES = 16 * 1024;

/** A request that has come whole, and nothing behind it. */
export interface PlainRequest {
  readonly head: PlainHead;
  readonly body: Buffer;
}

/** More of them is nothing that a plain request has. */
const MOST_HEADERS = 64;
const BODY_DIGITS = 9;

const requestLine = /^POST (\/[!-~]*) HTTP\/1\.1$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;
/** What changes how the rest is read, or asks for more than an answer. */
const special: ReadonlySet<string> = new Set(["transfer-encoding", "upgrade", "expect", "trailer", "te", "http2-settings", "__proto__"]);

/** Reads the requests of one connection. Clients repeat themselves: a head that is the same as the one before is not read again. */
export class PlainReader {
  readonly #headerBytes: number;
  #text = "";
  #head: PlainHead | undefined;

  constructor(headerBytes: number) {
    this.#headerBytes = headerBytes;
  }

  /**
   * The request that these bytes are: all of it, and nothing else. Undefined for whatever is not a POST in its plainest form, so that a
   * reader of the whole of HTTP/1.1 has to look at it. Two readers that disagree are how requests are smuggled, so nothing is guessed
   * here: a repeated header, a line that is folded or ends otherwise, an unusual byte is left to the other.
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
    // Of white space there are blanks and tabs alone.
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
