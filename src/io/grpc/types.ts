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

/** What a verified client certificate says. */
export interface PeerCertificateFacts {
  readonly subject: string;
  readonly uris: readonly string[];
  readonly names: readonly string[];
  readonly fingerprint256: string;
}

export interface GrpcPeer {
  readonly address?: string | undefined;
  /** Only of a certificate that the TLS layer verified. */
  readonly certificate?: PeerCertificateFacts | undefined;
}

/** Whole messages as they come, in batches: all that was there. One reader, one next() at a time. */
export type ReceivedMessages = AsyncIterable<readonly Uint8Array[]>;

/** What both ends of a call can do with their outgoing half. */
export interface OutgoingHalf {
  /**
   * Takes a message, whose bytes belong to the call from then on. Undefined says that there is room for more; else the promise
   * resolves when there is, and rejects when the call is gone. The messages of one tick leave in one write. A `tail` is the rest of the
   * message, which is not copied. `most`: bytes that may wait, if fewer than usual.
   */
  send(message: Uint8Array, tail?: Uint8Array, most?: number): Promise<void> | undefined;
  /** Bytes that were taken and not yet written to the socket. */
  readonly backlog: number;
}

/** One RPC as the server sees it. */
export interface ServerCall extends OutgoingHalf {
  /** `/package.Service/Method` */
  readonly path: string;
  /** The request's headers without those that belong to HTTP or to gRPC itself. */
  readonly metadata: Metadata;
  /** The hosts that it names: `:authority`, and the header that a proxy may have set. None where that came twice. */
  readonly hosts: readonly string[];
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  /** Fires `cancelled` when the client reset the call or is gone, `deadline` when the time is up: then the call has ended. */
  readonly cancel: Cancel;
  readonly peer: GrpcPeer;
  /** Where the bytes of its connection are counted. */
  readonly account: Account;
  /** What is held for the call counts for that principal from now on. */
  claim?(principal: string): void;
  /** Not reading them holds the client up. They end at its half-close; bad framing throws a fault. */
  readonly messages: ReceivedMessages;
  /** Sends the response's headers now and not with the first message. */
  begin(metadata?: Metadata): void;
  /** Sends what waits, then the status. The first end counts. */
  end(status: Status): void;
}

/** One RPC as the client sees it. */
export interface ClientCall extends OutgoingHalf {
  /** Sends no more. */
  done(): void;
  /** The response's headers. Rejects with the fault of the status if none come, and need not be looked at. */
  readonly headers: Promise<Metadata>;
  /** End with an OK status; any other is thrown as statusFault() makes it. */
  readonly messages: ReceivedMessages;
  /** Resolves however the call ends, and need not wait for the reader of the messages. */
  readonly status: Promise<Status>;
  /** Resets the call. The reason is what the reader gets; `cancelled` unless given. */
  cancel(reason?: Fault): void;
}

/** gRPC on HTTP/2 streams that somebody else accepted. */
export interface GrpcServer {
  /** Takes a request whose content type isGrpc(). `rawHeaders` keeps repeated metadata apart. */
  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders?: readonly string[]): void;
  /** Takes no more calls. Those in flight may finish for `graceMs`, then they end UNAVAILABLE. */
  close(graceMs: number): Promise<void>;
}

export interface GrpcServerOptions {
  /** Bytes of one received message, also after decompression. */
  readonly messageBytes?: number | undefined;
  /** What bounds the bytes that are held in total, and the time of a message. */
  readonly limits?: Partial<Limits> | undefined;
  /** Whether clients may compress what they send; true unless given. */
  readonly acceptGzip?: boolean | undefined;
  /** Calls of one connection at a time; more are refused RESOURCE_EXHAUSTED. */
  readonly maxConcurrent?: number | undefined;
  /** Compress what is sent to clients that accept it. */
  readonly gzip?: boolean | undefined;
  /** How often a silent connection with open calls is pinged. */
  readonly keepalive?: Keepalive | undefined;
  /** Hears what a handler threw that is no fault of the call's own. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
}

export interface Keepalive {
  /** Milliseconds of silence before a PING; Infinity for none. */
  readonly intervalMs: number;
  /** Milliseconds until the connection without an answer is given up. */
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
  /** Compress what is sent. */
  readonly gzip?: boolean | undefined;
  /** Let the server compress what it sends; true unless given. */
  readonly acceptGzip?: boolean | undefined;
  readonly keepalive?: Keepalive | undefined;
  /** Milliseconds for one attempt to connect; 20,000 unless given. */
  readonly connectMs?: number | undefined;
  /** Whose HTTP/2 is spoken: Anywire's own, or that of `node:http2`; "own" unless given. */
  readonly http2?: Http2Client | undefined;
  /** Connections that many calls at a time are spread over; 1 unless given. */
  readonly spread?: number | undefined;
  /** Connections at most, when the server limits the calls of each; 8 unless given. */
  readonly maxSessions?: number | undefined;
  readonly userAgent?: string | undefined;
}

export interface GrpcCallOptions {
  readonly metadata?: Metadata | undefined;
  /** Epoch milliseconds. */
  readonly deadline?: number | undefined;
  /** Compress what is sent; as the channel does unless given. */
  readonly gzip?: boolean | undefined;
  /** Little may be under way, so that a slow reader holds the server up soon; a large message still comes in one go. */
  readonly narrow?: boolean | undefined;
}

export type ChannelState = "idle" | "connecting" | "ready" | "backoff" | "closed";

/** Connects on the first call, and again when the connection is lost. */
export interface Channel {
  readonly state: ChannelState;
  /** Never waits: the call waits for the connection. Throws a fault only for metadata that cannot be sent. */
  call(path: string, options?: GrpcCallOptions): ClientCall;
  /** Calls that are open fail `unavailable`. */
  close(): Promise<void>;
}
