/** Pieces of fewer bytes do not need it. */
const LITTLE = 4096;
/** Where garbage is put, so that no compiler leaves it out. */
const bin: { garbage: unknown } = { garbage: undefined };

/**
 * Allocates garbage of half the size of a piece of a large resource. Call it for each piece. V8 frees the bytes of a piece only when it
 * collects the small object that refers to them, and it collects young objects only when they take much room. Without garbage, Node 24
 * keeps up to 100 MiB of unused bytes, and in a small heap V8 marks everything after each 16 MiB. That took half of the time of a large read.
 */
export function allocateGarbage(bytes: number): void {
  if (bytes < LITTLE) return;
  bin.garbage = new Array(bytes >> 4);
  // What survives a collection makes V8 give more room to young objects, and then collections are rare again.
  bin.garbage = undefined;
}
