import type { ProtoEncoding } from "../../codec/bufmcpv1/index.js";
import type { DialOptions } from "../../core/index.js";
import type { HttpAuth, TlsDialOptions } from "../../io/index.js";

export interface WebSocketDialOptions extends DialOptions {
  /** Sent with the request that opens the socket. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The credentials of that request, and how to react when the server asks for others. */
  readonly auth?: HttpAuth | undefined;
  readonly tls?: TlsDialOptions | undefined;
  /** For `proto+ws:`: whether to use JSON-RPC with a peer that does not speak proto-mcp; true unless given. */
  readonly jsonToo?: boolean | undefined;
  /** Of `proto+ws:`: the encodings of messages that are offered, the best first; `protobuf` and `json` unless given. */
  readonly encodings?: readonly ProtoEncoding[] | undefined;
  readonly pingMs?: number | undefined;
}
