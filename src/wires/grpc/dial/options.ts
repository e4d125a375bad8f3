import type { DialOptions } from "../../../core/index.js";
import type { Keepalive, TlsDialOptions } from "../../../io/index.js";

export interface GrpcDialOptions extends DialOptions {
  /** Metadata of every call, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How calls travel to an Anywire server: all on one `Session` stream, which is fastest, or each as an RPC of its own where there is one,
   * so that a mesh can balance them. To any other server they always go as RPCs.
   */
  readonly calls?: "session" | "rpc" | undefined;
  /** The dialect; unless given, `mcp.v1` if the server has it, otherwise the tunnel of JSON-RPC messages. */
  readonly dialect?: "auto" | "mcp.v1" | "tunnel" | undefined;
  /** The path of the server's tunnel, as `/package.Service/Method`; `/MCP/Call` unless given. */
  readonly tunnelPath?: string | undefined;
  /**
   * Connections over which concurrent calls are spread; unless given, 4 for calls as RPCs, otherwise 1. Use 1 if a load balancer in front
   * of several servers would separate a legacy client from its session.
   */
  readonly connections?: number | undefined;
  /** How to check a `grpcs://` server, and the certificate to show it. */
  readonly tls?: TlsDialOptions | undefined;
  /**
   * Which HTTP/2 client is used: Anywire's own, which is faster, or `node:http2`, for a server or proxy that has problems with it; "own"
   * unless given.
   */
  readonly http2?: "own" | "node" | undefined;
  readonly keepalive?: Keepalive | undefined;
  /** Whether to compress what is sent; off unless given. */
  readonly gzip?: boolean | undefined;
  /** For `proto+grpc:`: whether a server without `buf.mcp.v1` is dialed as `grpc:`; true unless given. */
  readonly jsonToo?: boolean | undefined;
}
