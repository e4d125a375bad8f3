import type { Cancel } from "../../../core/index.js";
import type { GrpcListenOptions } from "../listen/options.js";

export interface StandardOptions {
  readonly options: GrpcListenOptions;
  /** Whether only the tunnel is served besides. */
  readonly tunnelOnly: boolean;
  /** Fires when the listener begins to close. */
  readonly closing: Cancel;
}

/** The path of the health service, which needs no credentials. */
export const HEALTH = "/grpc.health.v1.Health/";
