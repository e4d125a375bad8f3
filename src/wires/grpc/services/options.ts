import type { Cancel } from "../../../core/index.js";
import type { GrpcListenOptions } from "../listen/options.js";

export interface StandardOptions {
  readonly options: GrpcListenOptions;
  /** Only the tunnel is served beside them. */
  readonly tunnelOnly: boolean;
  /** Fires when the listener begins to close. */
  readonly closing: Cancel;
}

/** Paths of health: whoever looks after a server may ask without credentials. */
export const HEALTH = "/grpc.health.v1.Health/";
