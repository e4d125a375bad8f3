import { toFault } from "../../core/index.js";
import { broken } from "./broken.js";
import { COMPRESSION_ERROR, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, PADDED, PRIORITISED, PROTOCOL_ERROR } from "./frames.js";
import { HpackDecoder } from "./hpack/index.js";
import { HEADER_BYTES, TABLE_BYTES } from "./hpack/limits.js";

/** Frames of one header list. Empty frames count too, or it could go on for ever. */
const FRAMES = 64;

/** Called with each header list. */
export type OnHeaders = (id: number, headers: readonly string[], end: boolean) => void;

interface Block {
  readonly id: number;
  readonly end: boolean;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** Assembles the header lists of one connection from their frames. */
export class HeaderBlocks {
  readonly #decoder: HpackDecoder;
  readonly #onHeaders: OnHeaders;
  /** A list that continues in the next frame. */
  #block: Block | undefined;

  constructor(onHeaders: OnHeaders, listBytes: number) {
    this.#decoder = new HpackDecoder({ tableBytes: TABLE_BYTES, listBytes });
    this.#onHeaders = onHeaders;
  }

  /** Whether the next frame has to continue a list. */
  get open(): boolean {
    return this.#block !== undefined;
  }

  begin(id: number, flags: number, payload: Uint8Array): void {
    let start = 0;
    let end = payload.length;
    if ((flags & PADDED) !== 0) {
      start = 1;
      end -= payload[0] ?? 0;
    }
    if ((flags & PRIORITISED) !== 0) start += 5;
    if (start > end) throw broken(PROTOCOL_ERROR, "the server sent more padding than frame");
    const last = (flags & END_STREAM) !== 0;
    const fragment = payload.subarray(start, end);
    if ((flags & END_HEADERS) !== 0) this.#decode(id, last, fragment);
    else this.#block = { id, end: last, parts: [fragment.slice()], bytes: fragment.length };
  }

  continue(id: number, flags: number, payload: Uint8Array): void {
    const block = this.#block;
    if (block?.id !== id) throw broken(PROTOCOL_ERROR, "the server continues a list of headers that it did not begin");
    block.bytes += payload.length;
    if (block.parts.push(payload.slice()) > FRAMES || block.bytes > HEADER_BYTES)
      throw broken(ENHANCE_YOUR_CALM, "the server sent too long a list of headers");
    if ((flags & END_HEADERS) === 0) return;
    this.#block = undefined;
    this.#decode(id, block.end, Buffer.concat(block.parts));
  }

  #decode(id: number, end: boolean, packed: Uint8Array): void {
    let headers: readonly string[];
    try {
      headers = this.#decoder.decode(packed);
    } catch (error) {
      throw broken(COMPRESSION_ERROR, toFault(error).message);
    }
    this.#onHeaders(id, headers, end);
  }
}
