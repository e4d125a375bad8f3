import { CHUNK } from "./sizes.js";

/** A source of `size` octets in chunks made as they are read, the first octets of each telling its place. */
export async function* octets(size: number, each: () => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += CHUNK) {
    const chunk = new Uint8Array(Math.min(CHUNK, size - at)).fill(at / CHUNK);
    if (chunk.byteLength >= 8) new DataView(chunk.buffer).setFloat64(0, at);
    each();
    yield chunk;
  }
}

/** Checks what octets() made, however it was cut on the way. */
export class OctetsCheck {
  total = 0;
  /** Chunks whose mark was found where it belongs. */
  marks = 0;
  readonly #mark = new Uint8Array(8);
  readonly #view = new DataView(this.#mark.buffer);

  add(data: Uint8Array): void {
    const end = this.total + data.byteLength;
    for (let start = this.total - (this.total % CHUNK); start < end; start += CHUNK) {
      const from = Math.max(start, this.total);
      const to = Math.min(start + 8, end);
      if (from >= to) continue;
      this.#mark.set(data.subarray(from - this.total, to - this.total), from - start);
      if (to === start + 8) {
        if (this.#view.getFloat64(0) !== start) throw new Error(`the chunk at ${start} says that it is at ${this.#view.getFloat64(0)}`);
        this.marks++;
      }
    }
    this.total = end;
  }
}
