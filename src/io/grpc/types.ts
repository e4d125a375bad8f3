import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import type { Account, Cancel, Fault, Limits } from "../../core/index.js";
import type { Http2Client } from "../http2/index.js";

/** Names are lower case. Values of names that end in `-bin` stay base64 text: see binary() and fromBinary(). */
export type Metadata = Readonly<Record<string, string | readonly string[]>>;

export interface Status {
  readonly code: number;
  readonly message?: string | undefined;
  /** The trailers. */
  readonly metadata?: Metadata | undefined;
}

/** The facts in a verified client certificate. */
export interface PeerCertificateFacts {
  readonly subject: string;
  readonly uris: readonly string[];
  readonly names: readonly string[];
  readonly fingerprint256: string;
}

export interface GrpcPeer {
  readonly address?: string | undefined;
  /** Only if the TLS layer verified the certificate. */
  readonly certificate?: PeerCertificateFacts | undefined;
}

/** Whole messages in batches, as they arrive. One reader, one next() at a time. */
export type ReceivedMessages = AsyncIterable<readonly Uint8Array[]>;

/** The outgoing half of a call, on both ends. */
export interface OutgoingHalf {
  /**
   * Takes a message, whose bytes belong to the call from then on. Undefined means that there is room for more. Otherwise the promise
   * resolves when there is room, and rejects when the call has ended. The messages of one tick leave in one write. `tail` is the rest of
   * the message, which is not copied. `most`: bytes that may wait, if fewer than usual.
   */
  send(message: Uint8Array, tail?: Uint8Array, most?: number): Promise<void> | undefined;
  /** Bytes that were taken but not yet written to the socket. */
  readonly backlog: number;
}

/** One RPC as the server sees it. */
export interface ServerCall extends OutgoingHalf {
  /** `/package.Service/Method` */
  readonly path: string;
  /** The request's headers without those of HTTP and gRPC. */
  readonly metadata: Metadata;
  /** The hosts that it names: `:authority`, and the header that a proxy may have set. None if a header came twice. */
  readonly hosts: readonly string[];
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  /** Fires `cancelled` when the client reset the call or has gone, `deadline` when the time is up. Then the call has ended. */
  readonly cancel: Cancel;
  readonly peer: GrpcPeer;
  /** Counts the bytes of its connection. */
  readonly account: Account;
  /** Counts what is held for the call for that principal from now on. */
  claim?(principal: string): void;
  /** If they are not read, the client is slowed down. They end when the client half-closes; bad framing throws a fault. */
  readonly messages: ReceivedMessages;
  /** Sends the response's headers now, instead of with the first message. */
  begin(metadata?: Metadata): void;
  /** Sends what waits, then the status. Only the first call has an effect. */
  end(status: Status): void;
}

/** One RPC as the client sees it. */
export interface ClientCall extends OutgoingHalf {
  /** Ends the outgoing half. */
  done(): void;
  /** The response's headers. Rejects with the fault of the status if none come. You may ignore it. */
  readonly headers: Promise<Metadata>;
  /** End with status OK. Any other status is thrown, as statusFault() makes it. */
  readonly messages: ReceivedMessages;
  /** Resolves however the call ends, even if nobody reads the messages. */
  readonly status: Promise<Status>;
  /** Resets the call. The reader gets the reason; `cancelled` unless given. */
  cancel(reason?: Fault): void;
}

/** gRPC on HTTP/2 streams that another server accepted. */
export interface GrpcServer {
  /** Takes a request for which isGrpc() is true. `rawHeaders` keeps repeated metadata apart. */
  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders?: readonly string[]): void;
  /** Accepts no more calls. Open ones have `graceMs` to finish, then they end with UNAVAILABLE. */
  close(graceMs: number): Promise<void>;
}

export interface GrpcServerOptions {
  /** Bytes of one received message, before and after decompression. */
  readonly messageBytes?: number | undefined;
  /** The limits on the bytes held in total, and on the time of a message. */
  readonly limits?: Partial<Limits> | undefined;
  /** Whether clients may compress what they send; true unless given. */
  readonly acceptGzip?: boolean | undefined;
  /** Calls of one connection at the same time. More are refused with RESOURCE_EXHAUSTED. */
  readonly maxConcurrent?: number | undefined;
  /** Whether to compress what is sent to clients that accept it. */
  readonly gzip?: boolean | undefined;
  /** How often a silent connection with open calls is pinged. */
  readonly keepalive?: Keepalive | undefined;
  /** Called with what a handler threw, unless it is the call's own fault. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
}

export interface Keepalive {
  /** Milliseconds of silence before a PING; Infinity for none. */
  readonly intervalMs: number;
  /** Milliseconds after which a connection without an answer, or other bytes, is given up. */
  readonly timeoutMs: number;
}

/** Where a channel connects to. */
export type GrpcTarget =
  | { readonly host: string; readonly port: number; readonly tls?: ConnectionOptions | undefined; readonly authority?: string | undefined }
  | { readonly path: string; readonly authority?: string | undefined }
  /** A new duplex for each connection, such as a child's stdin and stdout. */
  | { readonly duplex: () => Duplex; readonly authority?: string | undefined };

export interface GrpcChannelOptions {
  readonly messageBytes?: number | undefined;
  /** Whether to compress what is sent. */
  readonly gzip?: boolean | undefined;
  /** Whether the server may compress what it sends; true unless given. */
  readonly acceptGzip?: boolean | undefined;
  readonly keepalive?: Keepalive | undefined;
  /** Milliseconds for one attempt to connect; 20,000 unless given. */
  readonly connectMs?: number | undefined;
  /** Which HTTP/2 implementation is used: Anywire's own, or `node:http2`; "own" unless given. */
  readonly http2?: Http2Client | undefined;
  /** Connections over which many concurrent calls are spread; 1 unless given. */
  readonly spread?: number | undefined;
  /** The most connections, if the server limits the calls of each; 8 unless given. */
  readonly maxConnections?: number | undefined;
  readonly userAgent?: string | undefined;
}

export interface GrpcCallOptions {
  readonly metadata?: Metadata | undefined;
  /** Epoch milliseconds. */
  readonly deadline?: number | undefined;
  /** Whether to compress what is sent; as the channel does unless given. */
  readonly gzip?: boolean | undefined;
  /** Whether only little may be in flight, so that a slow reader soon slows down the server. A large message still comes at once. */
  readonly narrow?: boolean | undefined;
}

export type ChannelState = "idle" | "connecting" | "ready" | "backoff" | "closed";

/** Connects on the first call, and again when the connection is lost. */
export interface Channel {
  readonly state: ChannelState;
  /** Returns at once: the call waits for the connection. Throws a fault only for metadata that cannot be sent. */
  call(path: string, options?: GrpcCallOptions): ClientCall;
  /** Open calls fail with `unavailable`. */
  close(): Promise<void>;
}
