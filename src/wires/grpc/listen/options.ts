import type { ListenOptions } from "../../../core/index.js";
import type { SessionLimits } from "../../../era/index.js";
import type { GateOptions, Keepalive, SecureListenOptions } from "../../../io/index.js";

export interface GrpcListenOptions extends ListenOptions, GateOptions, SecureListenOptions, SessionLimits {
  readonly keepalive?: Keepalive | undefined;
  /** Whether to compress answers for clients that accept it; off unless given. */
  readonly gzip?: boolean | undefined;
  /** Whether clients may compress what they send; true unless given. */
  readonly acceptGzip?: boolean | undefined;
  /** More paths for the tunnel, as `/package.Service/Method`, in addition to `/MCP/Call` and `/McpTunnel/Connect`. */
  readonly tunnelPaths?: readonly string[] | undefined;
  /** Whether clients may ask for the descriptors of the services (`grpc.reflection.v1` and `v1alpha`); true unless given. */
  readonly reflection?: boolean | undefined;
}
