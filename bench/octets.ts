import { CHUNK } from "./sizes.js";

/** Bytes from one mark to the next. A mark tells its own place. */
const STRIDE = 4096;
/** Buffers that a pooled source goes round in: many more than may be under way between a source that is pulled and its reader. */
const POOL = 16;

/** More than a network wire, which writes them from where they lie, has under way at a time. */
const WIDE = 64;

/** How a source comes by its buffers: a new one for each chunk, the next of a few or of more, or always the same, without marks. */
export type Buffers = "allocated" | "pooled" | "wide" | "same";

/** A source of `size` octets in chunks made as they are read. */
export async function* octets(size: number, buffers: Buffers, each: () => void): AsyncGenerator<Uint8Array> {
  if (buffers === "same") return yield* same(size, each);
  const count = buffers === "pooled" ? POOL : buffers === "wide" ? WIDE : 0;
  const pool = Array.from({ length: count }, () => new Uint8Array(CHUNK));
  for (let at = 0; at < size; at += CHUNK) {
    const chunk = pool[(at / CHUNK) % count] ?? new Uint8Array(CHUNK);
    chunk.fill(at / CHUNK);
    const view = new DataView(chunk.buffer);
    for (let mark = 0; mark < CHUNK; mark += STRIDE) view.setFloat64(mark, at + mark);
    each();
    yield size - at < CHUNK ? chunk.subarray(0, size - at) : chunk;
  }
}

/** What costs nothing to make: to measure the way alone. */
async function* same(size: number, each: () => void): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK);
  for (let at = 0; at < size; at += CHUNK) {
    each();
    yield size - at < CHUNK ? chunk.subarray(0, size - at) : chunk;
  }
}

/** Checks what octets() made, however it was cut on the way. A buffer that was used again too early has wrong marks. */
export class OctetsCheck {
  total = 0;
  readonly #mark = new Uint8Array(8);
  readonly #view = new DataView(this.#mark.buffer);
  #marks = 0;

  add(data: Uint8Array): void {
    const end = this.total + data.byteLength;
    for (let start = this.total - (this.total % STRIDE); start < end; start += STRIDE) {
      const from = Math.max(start, this.total);
      const to = Math.min(start + 8, end);
      if (from >= to) continue;
      this.#mark.set(data.subarray(from - this.total, to - this.total), from - start);
      if (to < start + 8) continue;
      if (this.#view.getFloat64(0) !== start) throw new Error(`the mark at ${start} says that it is at ${this.#view.getFloat64(0)}`);
      this.#marks++;
    }
    this.total = end;
  }

  /** Throws unless exactly `size` octets came, a multiple of the chunks' size, with all their marks. */
  finish(size: number): void {
    if (this.total !== size || this.#marks !== size / STRIDE) throw new Error(`read ${this.total} octets of ${size}, ${this.#marks} marks`);
  }
}
