import { Fault, messageTooLarge } from "../core/index.js";
import { base64Decoder } from "../stream/index.js";
import { BLOB_HEAD, BLOB_TAIL, blobHead } from "./blob-text.js";
import type { Id } from "./jsonrpc.js";
import type { Line, LongLine, LongLines } from "./lines.js";

const QUOTE = 0x22;
/** The most bytes that Anywire puts into such a line. Longer ones are read too. */
const USUAL = 64 * 1024;
const nothing: readonly Line[] = [];
const text = new TextDecoder();

/** Decodes a line of blobText() as it arrives: gathering it first, and making a string of it, costs more than everything else. */
export function blobLines(maxBytes: number): LongLines {
  return {
    bytes: BLOB_HEAD,
    begin(held) {
      const head = blobHead(text.decode(held.subarray(0, BLOB_HEAD)));
      return head && new BlobLine(head.call, head.length, maxBytes);
    },
  };
}

class BlobLine implements LongLine {
  readonly #call: Id;
  readonly #maxBytes: number;
  readonly #blob = base64Decoder(USUAL);
  /** Bytes before the blob that are still to be skipped. */
  #head: number;
  /** The text from the quote after the blob on. */
  #tail = "";
  #bytes = 0;
  #fault: Fault | undefined;

  constructor(call: Id, head: number, maxBytes: number) {
    this.#call = call;
    this.#head = head;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): readonly Line[] {
    this.#bytes += bytes.byteLength;
    if (this.#bytes > this.#maxBytes) this.#fault ??= messageTooLarge(this.#maxBytes);
    if (this.#fault !== undefined) return nothing;
    const rest = bytes.subarray(this.#head);
    this.#head = 0;
    const quote = this.#tail === "" ? rest.indexOf(QUOTE) : 0;
    try {
      if (quote !== 0) this.#blob.push(quote < 0 ? rest : rest.subarray(0, quote));
    } catch (cause) {
      this.#fault = noBase64(cause);
    }
    // Reads no more than a valid tail could have.
    if (quote >= 0 && this.#tail.length <= BLOB_TAIL.length) this.#tail += text.decode(rest.subarray(quote, quote + 2 * BLOB_TAIL.length));
    return nothing;
  }

  end(): readonly Line[] {
    const fault = this.#fault ?? (this.#tail.trimEnd() === BLOB_TAIL ? undefined : noBase64());
    if (fault !== undefined) return [{ fault, whose: { answers: this.#call } }];
    try {
      return [{ message: { kind: "part", id: this.#call, part: { kind: "chunk", data: this.#blob.finish() } } }];
    } catch (cause) {
      return [{ fault: noBase64(cause), whose: { answers: this.#call } }];
    }
  }
}

function noBase64(cause?: unknown): Fault {
  return new Fault("invalid-request", "the server sent a blob that is not base64", { cause });
}
