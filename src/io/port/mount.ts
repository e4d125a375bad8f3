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
  /** Whether clients use TLS there. */
  readonly secure: boolean;
  /** `host:port`, with the port that was chosen; undefined for a Unix socket. */
  readonly authority?: string | undefined;
  /** The path of a Unix socket. */
  readonly path?: string | undefined;
}

/**
 * What a wire, or anything else, puts on a port. It takes HTTP requests, upgrades, RPCs or byte streams, depending on the methods it has.
 */
export interface Mount {
  /** The name of the wire. */
  readonly wire: string;
  /** The addresses at which it can be dialed. */
  addresses?(bound: Bound): readonly ListenAddress[];
  /**
   * Whether it handles requests and upgrades for this path. The first mount that claims a path gets it. An unclaimed path goes to the first
   * mount that takes that kind.
   */
  claims?(path: string): boolean;
  request?(request: NodeRequest, response: NodeResponse): void;
  /** Takes requests without Node's objects: a POST of HTTP/1.1 that has come whole, and every request on pipes. */
  readonly exchange?: ((exchange: Exchange) => void) | undefined;
  /** Takes HTTP/1.1 requests that ask for WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes HTTP/2 requests of gRPC's content type, whatever their path. They do not go to `request`. */
  rpc?(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void;
  /** Takes connections of a protocol of its own, recognised by their first bytes. */
  readonly bytes?: ByteMount | undefined;
  /** Whether clients with calls in flight may need new connections while it drains. */
  readonly connectsWhileDraining?: boolean | undefined;
  /** Refuses new calls, gives those in flight time to finish, and ends what is open. */
  close?(): Promise<void>;
}

export interface ByteMount {
  readonly detect: Detect;
  /** Whether its messages carry credentials, which it checks itself: then clients need no certificate where credentials are demanded. */
  readonly checksCredentials?: boolean;
  /** Takes a connection. What was looked at can be read again. */
  take(socket: Socket, peer: GrpcPeer): void;
}
