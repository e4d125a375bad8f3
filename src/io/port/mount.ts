import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ListenAddress } from "../../core/index.js";
import type { GrpcPeer } from "../grpc/types.js";
import type { Exchange } from "../http/exchange.js";
import type { Detect } from "./detect.js";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Where a port can be reached. */
export interface Bound {
  /** Whether clients speak TLS there. */
  readonly secure: boolean;
  /** `host:port`, with the port that was chosen; undefined for a Unix socket. */
  readonly authority?: string | undefined;
  /** The path of a Unix socket. */
  readonly path?: string | undefined;
}

/** What a wire, or anything else, puts on a port. It takes HTTP requests, upgrades, RPCs or byte streams: whatever it has a method for. */
export interface Mount {
  /** The name of the wire. */
  readonly wire: string;
  /** The addresses at which it can be dialed. */
  addresses?(bound: Bound): readonly ListenAddress[];
  /** Whether a request or an upgrade for this path belongs to it. The first mount that claims a path gets it; nobody's goes to the first mount that takes its kind. */
  claims?(path: string): boolean;
  request?(request: NodeRequest, response: NodeResponse): void;
  /** Takes what `request` would, where there are not an objects of Node to it: a POST of HTTP/1.1 that has come whole. */
  readonly exchange?: ((exchange: Exchange) => void) | undefined;
  /** Takes requests of HTTP/1.1 that ask for WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes HTTP/2 requests of gRPC's content type, whatever their path; they do not come to `request`. */
  rpc?(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void;
  /** Takes connections that speak a protocol of its own, told by their first bytes. */
  readonly bytes?: ByteMount | undefined;
  /** Whether the clients of calls in flight may need new connections while it drains. */
  readonly connectsWhileDraining?: boolean | undefined;
  /** Refuses new calls, gives those in flight their time to finish, and ends what is open. */
  close?(): Promise<void>;
}

export interface ByteMount {
  readonly detect: Detect;
  /** Whether its messages carry credentials, which it checks itself: then clients need no certificate where credentials are demanded. */
  readonly checksCredentials?: boolean;
  /** Takes a connection. What was looked at can be read again. */
  take(socket: Socket, peer: GrpcPeer): void;
}
