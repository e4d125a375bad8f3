/** Bytes of one chunk of a resource where nobody names a size, and the most that may be asked for. */
export const DEFAULT_CHUNK_BYTES: number = 64 * 1024;
export const LARGEST_CHUNK_BYTES: number = 1024 * 1024;
