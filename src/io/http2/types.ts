import type { IncomingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";

/** Receives what arrives on a stream. Nothing is called after `onClose`. */
export interface StreamEvents {
  /** The response's headers. In `raw`, names and values alternate as they came. */
  onResponse(headers: IncomingHttpHeaders, raw: readonly string[]): void;
  /** The bytes are reused after the call. */
  onData(bytes: Uint8Array): void;
  onTrailers(headers: IncomingHttpHeaders, raw: readonly string[]): void;
  /** The server sends no more. */
  onEnd(): void;
  /**
   * The stream is over on both sides; called once. The code is that of the reset, from either side. An error comes with the code of the
   * rule that the server violated on this stream; with NO_ERROR if the connection was lost; with REFUSED_STREAM if the request was
   * certainly not processed. `passed`: the server has left the connection after other streams, and would have taken this one before them.
   */
  onClose(code: number, error: Error | undefined, passed: boolean): void;
}

/** One request of a client session. */
export interface Http2ClientStream {
  /** Whether it accepts more data. */
  readonly writable: boolean;
  /** Bytes that were taken but not given to the socket. */
  readonly writableLength: number;
  /** Takes bytes, which must not change afterwards. `done` is called when the socket has them. */
  write(bytes: Uint8Array, done?: () => void): void;
  /** Sends what waits and these bytes, then the end. */
  end(bytes?: Uint8Array): void;
  /** Lets the server send this many bytes ahead from now on, if that is more than before. */
  widen(window: number): void;
  /** Lets the server send no more than it already may, until resume(). */
  pause(): void;
  resume(): void;
  /** Ends the stream at once. The server is told that it is cancelled. */
  destroy(): void;
}

export interface Http2ClientOptions {
  /** Bytes that the server may send ahead on the connection, and on each stream unless its request says otherwise. */
  readonly window: number;
  /** The least that the server may send ahead on a stream. A request that wants more costs a frame. As `window` unless given. */
  readonly leastWindow?: number;
  /** Whether the server is on this machine, so that fewer updates of windows do. */
  readonly near?: boolean;
  /** Bytes of a frame that the server may send; 16 KiB unless given. */
  readonly frameBytes?: number;
  /** The server's settings have arrived. */
  readonly onReady: () => void;
  /** The server has changed its settings: it may accept more streams. */
  readonly onSettings?: () => void;
  /** The server accepts no more streams. Those that it did not process close with REFUSED_STREAM right after. */
  readonly onGoaway: (code: number, words: string) => void;
  /** The connection was lost or closed, with the error if there is one. It takes no more requests, and its streams close right after. */
  readonly onLost: (error: Error | undefined) => void;
  /** The socket has closed. All streams have closed before. */
  readonly onClose: () => void;
}

/**
 * Opens the socket of a connection. Incoming bytes go to `read`, which must copy what it keeps. Without `read` nobody reads the socket yet.
 */
export type OpenSocket = (read?: (bytes: Uint8Array) => void) => Duplex;

/** Which HTTP/2 implementation is used: Anywire's or Node's. */
export type Http2Client = "own" | "node";

/** The client's end of one HTTP/2 connection. */
export interface Http2ClientSession {
  readonly socket: Duplex;
  /** Streams that the server accepts at the same time. Further requests wait. */
  readonly concurrent: number;
  /** Whether it accepts no more requests. */
  readonly closed: boolean;
  readonly destroyed: boolean;
  /**
   * Names, in lower case, and values alternate, pseudo-headers first. `window`: the bytes that may be sent ahead. Throws if the session is
   * closed.
   */
  request(headers: readonly string[], events: StreamEvents, window?: number): Http2ClientStream;
  /** `done` is called when the answer comes, or with the reason why none will. */
  ping(done: (error: Error | null) => void): void;
  /** Accepts no more requests, and closes the connection when the last stream has closed. */
  close(): void;
  /** Closes the connection now. */
  destroy(error?: Error): void;
}

/** Opens an HTTP/2 client on the socket that `open` makes. */
export type OpenHttp2 = (open: OpenSocket, options: Http2ClientOptions) => Http2ClientSession;
