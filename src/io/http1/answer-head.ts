import { answerHeaderBytes, Fault } from "../../core/index.js";

/** The head of an answer of HTTP/1.1. */
export interface AnswerHead {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body; or it comes in chunks, or ends with the connection. */
  readonly length: number | "chunked" | "until-close";
  /** Whether the server keeps the connection for another request. */
  readonly keeps: boolean;
  /** For how many milliseconds, if it says so. */
  readonly keepMs: number | undefined;
}

/** An answer that breaks the rules of HTTP. `whyUnreached` knows the code, which is like those of Node's parser. */
export function badAnswer(what: string): Error {
  return Object.assign(new Error(what), { code: "HPE_INVALID_ANSWER" });
}

/** The fault of an answer whose head or trailers are too long. */
export function longHead(what = "the head"): Fault {
  const max = answerHeaderBytes.http1;
  return new Fault("overload", `${what} of the answer has more than ${max} bytes`, { data: { limit: "headerBytes", max } });
}

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n\0]*)?$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Line ends and other control characters could be read as something else further on. */
const badValue = /[^\t\x20-\x7e\x80-\xff]/;
/** Headers of which the first one counts. The values of others are joined. */
const single: ReadonlySet<string> = new Set(["content-type", "location", "retry-after"]);
const LENGTH_DIGITS = 15;
/** Some gateways say it once more than the server behind them. */
const chunked = /^chunked(?:, chunked)*$/i;

/** Reads the lines of a head. Throws what badAnswer() makes. */
export function readAnswerHead(text: string): AnswerHead {
  const lines = text.split("\r\n");
  const [, minor, digits] = statusLine.exec(lines[0] as string) ?? [];
  if (digits === undefined) throw badAnswer("the answer does not begin with a status of HTTP/1.1");
  const headers: Record<string, string> = {};
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] as string;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1);
    if (!headerName.test(name) || badValue.test(value)) throw badAnswer("the answer has an invalid header");
    if (name === "__proto__") continue;
    const before = headers[name];
    if (before === undefined) headers[name] = value.trim();
    else if (name === "content-length") throw badAnswer("the answer has two lengths");
    else if (!single.has(name)) headers[name] = `${before}, ${value.trim()}`;
  }
  const status = Number(digits);
  const { connection = "", "transfer-encoding": coding, "content-length": length, "keep-alive": hint } = headers;
  const seconds = hint === undefined ? undefined : /(?:^|[,;\s])timeout=(\d+)/i.exec(hint)?.[1];
  const body = bodyLength(status, coding, length);
  // Where both a coding and a length are given, something on the way may have understood the answer differently.
  const clear = body !== "until-close" && (coding === undefined || length === undefined);
  return {
    status,
    headers,
    length: body,
    keeps: clear && (minor === "1" ? !/\bclose\b/i.test(connection) : /\bkeep-alive\b/i.test(connection)),
    keepMs: seconds === undefined ? undefined : Number(seconds) * 1000,
  };
}

function bodyLength(status: number, coding: string | undefined, length: string | undefined): AnswerHead["length"] {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) {
    if (!chunked.test(coding)) throw badAnswer("the answer has an unknown transfer coding");
    return "chunked";
  }
  if (length === undefined) return "until-close";
  if (length.length > LENGTH_DIGITS || !/^[0-9]+$/.test(length)) throw badAnswer("the answer has an invalid length");
  return Number(length);
}
