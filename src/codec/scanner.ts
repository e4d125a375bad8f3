import { Fault, isObject, type JsonObject } from "../core/index.js";
import { concat } from "../stream/index.js";
import type { AnswerPart } from "./jsonrpc.js";
import { parseJson } from "./numbers.js";
import { type Data, dataReader } from "./scanned-data.js";

/** An answer of up to this many bytes is held and parsed whole, whatever it contains. A longer one is scanned. */
export const WHOLE_BYTES: number = 8 * 1024 * 1024;

/** Takes the contents out of the JSON text of an answer to a read, so that neither the text nor its data has to be held. */
export interface Scanner {
  /** The contents and chunks in these bytes. Throws a Fault if they cannot be read like this, and cannot be used after that. */
  push(bytes: Uint8Array): AnswerPart[];
  /** The text without its contents. */
  finish(): Uint8Array;
}

export interface ScannerOptions {
  /** Bytes of everything but the data. */
  readonly maxBytes: number;
  readonly depth: number;
}

interface Frame {
  readonly array: boolean;
  key?: string;
  /** Whether the next string is a key. */
  naming: boolean;
}

const [QUOTE, ESCAPE, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, BRACKET, END_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The depth of the array of contents, and that of one content. */
const [CONTENTS, CONTENT] = [3, 4];

export function scanner(options: ScannerOptions): Scanner {
  return new ContentsScanner(options);
}

/**
 * The expected shape is `{ result: { contents: [ { …, text | blob } ] } }`, with the data as the last member of its content. The rest is
 * arbitrary.
 */
class ContentsScanner implements Scanner {
  readonly #options: ScannerOptions;
  readonly #stack: Frame[] = [];
  /** Everything but the data: of the message, and of the open content. */
  readonly #rest: number[] = [];
  #head: number[] = [];
  #string: { readonly key: boolean; readonly from: number; escaped: boolean } | undefined;
  #data: Data | undefined;
  /** Whether the data of the open content has begun. */
  #told = false;
  #inContents = false;
  #had = false;
  #carry: Uint8Array | undefined;
  #parts: AnswerPart[] = [];

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  push(given: Uint8Array): AnswerPart[] {
    const bytes = this.#carry === undefined ? given : concat([this.#carry, given]);
    this.#carry = undefined;
    for (let at = 0; at < bytes.length; ) at = this.#data === undefined ? this.#structure(bytes, at) : this.#content(bytes, at, this.#data);
    if (this.#rest.length + this.#head.length > this.#options.maxBytes) throw unreadable("too much of it is no data");
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  finish(): Uint8Array {
    if (this.#stack.length > 0) throw new Fault("parse", "the server's answer is not a message: it has no end");
    return Uint8Array.from(this.#rest);
  }

  #content(bytes: Uint8Array, at: number, data: Data): number {
    const { end, closed, chunk } = data.read(bytes.subarray(at));
    if (chunk !== undefined && chunk.length > 0) this.#parts.push({ kind: "chunk", data: chunk });
    if (closed) this.#data = undefined;
    else if (at + end < bytes.length) this.#carry = bytes.slice(at + end);
    return closed ? at + end : bytes.length;
  }

  #structure(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (this.#string !== undefined) {
      this.#keep(byte);
      this.#inside(byte, this.#string);
      return at + 1;
    }
    const top = this.#stack.at(-1);
    if (this.#inContents) this.#check(byte);
    switch (byte) {
      case QUOTE: {
        const key = top !== undefined && !top.array && top.naming;
        if (!key && this.#inContents && this.#stack.length === CONTENT && (top?.key === "text" || top?.key === "blob")) {
          this.#begin(top.key);
          return at + 1;
        }
        this.#string = { key, from: this.#target.length, escaped: false };
        break;
      }
      case OPEN:
      case BRACKET:
        this.#open(byte === BRACKET);
        break;
      case CLOSE:
      case END_BRACKET:
        this.#keep(byte);
        this.#close();
        return at + 1;
      case COMMA:
        if (top !== undefined) top.naming = !top.array;
        break;
      case COLON:
        if (top !== undefined) top.naming = false;
    }
    this.#keep(byte);
    return at + 1;
  }

  get #target(): number[] {
    return this.#inContents && this.#stack.length >= CONTENT ? this.#head : this.#rest;
  }

  #keep(byte: number): void {
    // Separators between contents are dropped with them.
    if (this.#inContents && this.#stack.length === CONTENTS && byte !== END_BRACKET && byte !== BRACKET) return;
    this.#target.push(byte);
  }

  /** Takes a byte of a string that is kept. */
  #inside(byte: number, string: { readonly key: boolean; readonly from: number; escaped: boolean }): void {
    if (string.escaped) string.escaped = false;
    else if (byte === ESCAPE) string.escaped = true;
    else if (byte === QUOTE) {
      const top = this.#stack.at(-1);
      if (string.key && top !== undefined) top.key = String(parsed(this.#target.slice(string.from)));
      this.#string = undefined;
    }
  }

  /** Contents must be objects, and nothing in one may follow its data. */
  #check(byte: number): void {
    if (isSpace(byte)) return;
    const depth = this.#stack.length;
    if (depth === CONTENTS && byte !== OPEN && byte !== COMMA && byte !== END_BRACKET) throw unreadable("a content is not an object");
    if (depth === CONTENT && this.#told && byte !== CLOSE) throw unreadable("a content says something after its data");
  }

  #open(array: boolean): void {
    const [root, result] = this.#stack;
    if (this.#stack.length >= this.#options.depth) throw unreadable("it is nested too deep");
    if (this.#stack.length === 0 && array) throw unreadable("it is a batch");
    this.#stack.push({ array, naming: !array });
    if (this.#stack.length === CONTENT && this.#inContents) this.#head = [];
    if (this.#stack.length !== CONTENTS || !array || root?.key !== "result" || result?.key !== "contents") return;
    if (this.#had) throw unreadable("it has contents twice");
    this.#inContents = this.#had = true;
  }

  #close(): void {
    if (this.#inContents && this.#stack.length === CONTENT) {
      if (!this.#told) this.#parts.push({ kind: "content", form: "none", head: headOf(this.#head) });
      this.#told = false;
      this.#head = [];
    }
    if (this.#inContents && this.#stack.length === CONTENTS) this.#inContents = false;
    this.#stack.pop();
  }

  #begin(form: "text" | "blob"): void {
    // The head ends with the name of the data, so it is completed with null.
    const { [form]: data, ...head } = headOf([...this.#head, ...new TextEncoder().encode("null}")]);
    this.#parts.push({ kind: "content", form, head });
    this.#told = true;
    this.#data = dataReader(form);
  }
}

function headOf(bytes: readonly number[]): JsonObject {
  const value = parsed(bytes);
  if (!isObject(value)) throw unreadable("a content is not an object");
  return value;
}

function parsed(bytes: readonly number[]): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes)));
  } catch (error) {
    throw new Fault("parse", "the server's answer is not a message", { cause: error });
  }
}

function unreadable(why: string): Fault {
  return new Fault("overload", `the answer is larger than a message may be, and cannot be read piece by piece: ${why}`, {
    data: { limit: "messageBytes" },
  });
}
