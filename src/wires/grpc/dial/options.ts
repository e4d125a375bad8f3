import type { DialOptions } from "../../../core/index.js";
import type { Keepalive, TlsDialOptions } from "../../../io/index.js";

export interface GrpcDialOptions extends DialOptions {
  /** Metadata of every call, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How calls travel to an Anywire server: all on one `Session` stream, which is fastest, or each as an RPC of its own where there is one,
   * which lets a mesh balance them. To any other server they always go as RPCs.
   */
  readonly calls?: "session" | "rpc" | undefined;
  /** What is spoken: `mcp.v1` where the server has it, else the tunnel of JSON-RPC messages, unless said otherwise. */
  readonly dialect?: "auto" | "mcp.v1" | "tunnel" | undefined;
  /** The path of the server's tunnel, as `/package.Service/Method`; `/MCP/Call` unless given. */
  readonly tunnelPath?: string | undefined;
  /**
   * Connections that many calls at a time are spread over; 4 for calls as RPCs, else 1, unless given. Give 1 where a balancer in front of
   * several servers would part a legacy client from its session.
   */
  readonly connections?: number | undefined;
  /** How a `grpcs://` server is checked, and the certificate to show it. */
  readonly tls?: TlsDialOptions | undefined;
  /**
   * Whose HTTP/2 is spoken: Anywire's own client, which is faster, or that of `node:http2`, if a server or proxy does not get on with it;
   * "own" unless given.
   */
  readonly http2?: "own" | "node" | undefined;
  readonly keepalive?: Keepalive | undefined;
  /** Compress what is sent; off unless given. */
  readonly gzip?: boolean | undefined;
  /** Of `proto+grpc:`: whether a server without `buf.mcp.v1` is dialed as `grpc:`; true unless given. */
  readonly jsonToo?: boolean | undefined;
}
