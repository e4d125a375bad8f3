import type { IncomingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";

/** Hears what comes on a stream. Nothing comes after `onClose`. */
export interface StreamEvents {
  /** The response's headers. `raw` has them as they came, names and values in turn. */
  onResponse(headers: IncomingHttpHeaders, raw: readonly string[]): void;
  /** Memory that is used again after the call. */
  onData(bytes: Uint8Array): void;
  onTrailers(headers: IncomingHttpHeaders, raw: readonly string[]): void;
  /** The server sends no more. */
  onEnd(): void;
  /**
   * It is over on both sides; called once. The code is that of the reset, whichever side made it. An error comes with the code of the
   * rule that the server broke on this stream; with NO_ERROR if the connection was lost; with REFUSED_STREAM if the request is known not
   * to have been sent by then. `passed`: the server left the connection after other streams, and would have taken this one before them.
   */
  onClose(code: number, error: Error | undefined, passed: boolean): void;
}

/** One request of a client session. */
export interface Http2ClientStream {
  /** Whether it takes more to send. */
  readonly writable: boolean;
  /** Bytes that were taken and not given to the socket. */
  readonly writableLength: number;
  /** Takes bytes, which are not to be changed from then on; `done` hears when they are with the socket. */
  write(bytes: Uint8Array, done?: () => void): void;
  /** Sends what waits and these bytes, and then no more. */
  end(bytes?: Uint8Array): void;
  /** The server may send so many bytes ahead from now on, if that is more than before. */
  widen(window: number): void;
  /** The server is to send no more than it already may, or again as it likes. */
  pause(): void;
  resume(): void;
  /** Ends it at once; the server hears that it is cancelled. */
  destroy(): void;
}

export interface Http2ClientOptions {
  /** Bytes that the server may send ahead on all streams, and on each unless its request says otherwise. */
  readonly window: number;
  /** The least that it may send ahead on a stream; what a request wants beyond it costs a frame. As `window` unless given. */
  readonly leastWindow?: number;
  /** The server's settings have come. */
  readonly onReady: () => void;
  /** The server takes no more streams than it has: those that it did not look at close with REFUSED_STREAM right after. */
  readonly onGoaway: (code: number, words: string) => void;
  /** The connection is lost, or was closed, by the error if one is told: it takes no more requests, and its streams close right after. */
  readonly onLost: (error: Error | undefined) => void;
  /** The socket is closed. All streams have closed before. */
  readonly onClose: () => void;
}

/** Makes the socket of a connection. What comes on it goes to `read`, which has to copy what it keeps; without `read` nobody reads it yet. */
export type OpenSocket = (read?: (bytes: Uint8Array) => void) => Duplex;

/** Whose code speaks HTTP/2: ours, or Node's. */
export type Http2Client = "own" | "node";

/** The client's end of one HTTP/2 connection. */
export interface Http2ClientSession {
  /** Streams that the server takes at a time; a request beyond them waits. */
  readonly concurrent: number;
  /** Whether it takes no more requests. */
  readonly closed: boolean;
  readonly destroyed: boolean;
  /** Names, lower case, and values in turn, pseudo-headers first; the bytes that may be sent ahead. Throws on a session that is closed. */
  request(headers: readonly string[], events: StreamEvents, window?: number): Http2ClientStream;
  /** `done` hears of the answer, or why there will be none. */
  ping(done: (error: Error | null) => void): void;
  /** Takes no more requests, and closes the connection when the last stream has closed. */
  close(): void;
  /** Closes the connection now. */
  destroy(error?: Error): void;
}

/** What both clients are: whatever speaks HTTP/2 on the socket that `open` makes. */
export type OpenHttp2 = (open: OpenSocket, options: Http2ClientOptions) => Http2ClientSession;
