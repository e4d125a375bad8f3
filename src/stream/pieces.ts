import { concat } from "./bytes.js";

/** Pieces that are looked at together. */
const TOGETHER = 1024;
/** About what a piece takes in memory beside its own bytes, and for those of its buffer that it does not need. */
export const PIECE_BYTES = 128;

/** Gathers the pieces of a body. Many small ones are joined on the way, because each takes far more memory than it has bytes. */
export class Pieces {
  #joined: Uint8Array[] = [];
  #last: Uint8Array[] = [];
  #lastBytes = 0;
  bytes = 0;

  push(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    this.#lastBytes += piece.byteLength;
    if (this.#last.push(piece) < TOGETHER) return;
    if (this.#lastBytes < TOGETHER * PIECE_BYTES) this.#joined.push(concat(this.#last));
    else this.#joined.push(...this.#last);
    this.#last = [];
    this.#lastBytes = 0;
  }

  /** The pieces, in their order. */
  all(): readonly Uint8Array[] {
    return [...this.#joined, ...this.#last];
  }

  whole(): Uint8Array {
    return concat(this.all());
  }
}
