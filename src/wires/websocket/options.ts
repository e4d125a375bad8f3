import type { ProtoEncoding } from "../../codec/bufmcpv1/index.js";
import type { DialOptions } from "../../core/index.js";
import type { HttpAuth, TlsDialOptions } from "../../io/index.js";

export interface WebSocketDialOptions extends DialOptions {
  /** Sent with the request that opens the socket. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Credentials of that request, and what to do when the server wants others. */
  readonly auth?: HttpAuth | undefined;
  readonly tls?: TlsDialOptions | undefined;
  /** Of `proto+ws:`: whether a peer that does not speak proto-mcp is spoken to in JSON-RPC; true unless given. */
  readonly jsonToo?: boolean | undefined;
  /** Of `proto+ws:`: the encodings of messages that are offered, the best first; `protobuf` and `json` unless given. */
  readonly encodings?: readonly ProtoEncoding[] | undefined;
  readonly pingMs?: number | undefined;
}
