/** Tools of the list whose first is waited for. */
export const MANY = 100_000;
/** Progress notifications before a result. */
export const BURST = 20;
/** Bytes of the large resource, and of the chunks that its source makes. */
export const LARGE = 1024 ** 3;
export const CHUNK = 64 * 1024;
/** Bytes of a read after which the compiler has done most of its work. */
export const WARM = 64 * 1024 ** 2;
/** Calls under way at a time where many are. */
export const WORKERS = 64;
/** Notifications for a client that does not read, and the bytes of each: 200 MB in all. */
export const FLOOD = 20_000;
export const FLOOD_BYTES = 10_000;
