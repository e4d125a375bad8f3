import { answerHeaderBytes } from "../../core/index.js";
import { type AnswerHead, badAnswer, longHead, readAnswerHead } from "./answer-head.js";

export interface AnswerListener {
  onHead(head: AnswerHead): void;
  onBody(bytes: Uint8Array): void;
  /** The answer is complete. */
  onEnd(): void;
}

/** Bytes of a head, and of the trailers of a body. */
const HEAD_BYTES = answerHeaderBytes.http1;
/** Characters of the line before a chunk. */
const SIZE_CHARS = 1024;
const START = "HTTP/1.";
const CR = 13;
const LF = 10;

const sizeLine = /^([0-9a-fA-F]{1,13})[\t ]*(?:;[^\r\n]*)?\r\n$/;
const trailerLine = /^[^\r\n]*\r\n$/;

/** Where it is in an answer. `counted`: in a body, or a chunk, of known length. */
type AnswerState = "head" | "counted" | "chunk size" | "chunk end" | "trailers" | "until-close";

/** Reads the answers of one connection, one after another. */
export class AnswerReader {
  readonly #listener: AnswerListener;
  #place: AnswerState = "head";
  /** A head or a line that has not arrived completely. */
  #begun = "";
  /** Bytes of the body or the chunk that have not arrived. */
  #left = 0;
  #chunked = false;
  #trailerBytes = 0;
  #ended = false;
  /** The last head. Servers repeat themselves, so a head that equals the previous one is not parsed again. */
  #text = "";
  #head: AnswerHead | undefined;

  constructor(listener: AnswerListener) {
    this.#listener = listener;
  }

  /** Takes bytes of the connection, up to the end of an answer. False if there are more behind it. Throws what badAnswer() or longHead() makes. */
  push(bytes: Buffer): boolean {
    let at = 0;
    this.#ended = false;
    while (at < bytes.length && !this.#ended) at = this.#step(bytes, at);
    return at === bytes.length;
  }

  /** The connection has ended. Without a length, that is the end of the body. */
  end(): void {
    if (this.#place === "until-close") this.#over();
  }

  /** Reads on from `at`. Returns where it stopped. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#place) {
      case "head":
        return this.#readHead(bytes, at);
      case "counted": {
        const to = Math.min(bytes.length, at + this.#left);
        this.#left -= to - at;
        this.#listener.onBody(at === 0 && to === bytes.length ? bytes : bytes.subarray(at, to));
        if (this.#left > 0) return to;
        if (this.#chunked) this.#place = "chunk end";
        else this.#over();
        return to;
      }
      case "until-close":
        this.#listener.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      default:
        return this.#readLine(bytes, at);
    }
  }

  #readHead(bytes: Buffer, from: number): number {
    let at = from;
    // Some servers send an empty line behind a body.
    if (this.#begun === "") while (bytes[at] === CR || bytes[at] === LF) at++;
    const known = this.#begun.length;
    // The end may have begun in an earlier piece.
    const text = this.#begun + bytes.toString("latin1", at, Math.min(bytes.length, at + HEAD_BYTES));
    const end = text.indexOf("\r\n\r\n", Math.max(0, known - 3));
    if (end < 0 || end > HEAD_BYTES) {
      // A server of another protocol may wait for more before it says more.
      if (!text.startsWith(START.slice(0, text.length))) throw badAnswer("the answer is not one of HTTP/1.1");
      if (text.length >= HEAD_BYTES) throw longHead();
      this.#begun = text;
      return bytes.length;
    }
    this.#begun = "";
    this.#began(this.#parsed(text.slice(0, end)));
    return at + end + 4 - known;
  }

  #parsed(text: string): AnswerHead {
    if (this.#head === undefined || text !== this.#text) {
      this.#head = readAnswerHead(text);
      this.#text = text;
    }
    return this.#head;
  }

  #began(head: AnswerHead): void {
    const { status, length } = head;
    if (status === 101) throw badAnswer("the server changed the protocol, which it was not asked to do");
    // An interim answer. The other one follows.
    if (status < 200) return;
    this.#chunked = length === "chunked";
    this.#left = typeof length === "number" ? length : 0;
    this.#place = length === "chunked" ? "chunk size" : length === "until-close" ? "until-close" : "counted";
    this.#listener.onHead(head);
    if (length === 0) this.#over();
  }

  /** Reads a line of the chunked coding. */
  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    const to = end < 0 ? bytes.length : end + 1;
    this.#begun += bytes.toString("latin1", at, Math.min(to, at + HEAD_BYTES + 1));
    if (this.#begun.length > SIZE_CHARS && this.#place !== "trailers") throw badAnswer("a chunk of the answer has an invalid length");
    if (this.#begun.length + this.#trailerBytes > HEAD_BYTES) throw longHead("the trailers");
    if (end < 0) return to;
    const line = this.#begun;
    this.#begun = "";
    this.#take(line);
    return to;
  }

  #take(line: string): void {
    if (this.#place === "chunk end") {
      if (line !== "\r\n") throw badAnswer("a chunk of the answer is longer than it says");
      this.#place = "chunk size";
    } else if (this.#place === "trailers") {
      if (!trailerLine.test(line)) throw badAnswer("the answer has an invalid trailer");
      this.#trailerBytes += line.length;
      if (line === "\r\n") this.#over();
    } else {
      const [, digits] = sizeLine.exec(line) ?? [];
      if (digits === undefined) throw badAnswer("a chunk of the answer has an invalid length");
      this.#left = Number.parseInt(digits, 16);
      this.#trailerBytes = 0;
      this.#place = this.#left > 0 ? "counted" : "trailers";
    }
  }

  #over(): void {
    this.#place = "head";
    this.#ended = true;
    this.#listener.onEnd();
  }
}
