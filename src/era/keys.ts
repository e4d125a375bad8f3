/** Anywire's own names on a JSON wire. A peer that does not know them ignores them. */
export const anywireKeys = {
  /**
   * Request `_meta` of `initialize` and `server/discover`: the sender is an Anywire end, and may be told what this edge can do for one.
   */
  peer: "dev.anywire/peer",
  /** Request `_meta` between Anywire ends: who calls, if it is not the link itself. `{ key?, version? }` */
  caller: "dev.anywire/caller",
  /** Notification between Anywire ends: the caller with this `key` has left. */
  gone: "notifications/dev.anywire/gone",
  /**
   * Sent by a link that outlives its connections to its own end, never to a peer: the server has started again, and what it said about
   * itself may no longer hold.
   */
  renewed: "notifications/dev.anywire/renewed",
  /** Capability extension between Anywire ends: the server behind this edge is a legacy one. */
  legacy: "dev.anywire/legacy",
  /** Request `_meta` of a read whose answer may come in parts: `{ offset, chunkSize }`. */
  chunked: "dev.anywire/chunked",
  /** Capability extension and request `_meta`: bytes of notifications that the caller accepts before it grants more. */
  window: "dev.anywire/window",
  /** Notification of how many messages of a call were read. Their weight is granted again. */
  credit: "notifications/dev.anywire/credit",
  /** Request `_meta` of a list: items in a page, where the server may choose. */
  pageSize: "dev.anywire/page-size",
  /** Request `_meta` of a list that comes in parts: the caller takes one page, and asks for the next by its cursor. */
  onePage: "dev.anywire/one-page",
  /** `_meta` of a notification or server request: the id of the call it belongs to. */
  call: "dev.anywire/call",
  /**
   * `_meta` between Anywire ends: what the message had before keys were added. `absent`: no params. `null`: null params. `meta`: an empty
   * `_meta`.
   */
  bare: "dev.anywire/bare",
} as const;

/**
 * Bytes of a resource in one part. Small enough not to hold up other calls on a shared link, and a line of its base64 stays below the size
 * from which V8 gives every string pages of its own.
 */
export const PART_BYTES: number = 64 * 1024;
/** Bytes of notifications that may be in flight for one call. */
export const WINDOW_BYTES: number = 64 * 1024;
