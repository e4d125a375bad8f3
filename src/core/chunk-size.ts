/** The size of a resource's chunks in bytes unless the reader asks for another, and the largest that it may ask for. */
export const DEFAULT_CHUNK_BYTES: number = 64 * 1024;
export const LARGEST_CHUNK_BYTES: number = 1024 * 1024;
