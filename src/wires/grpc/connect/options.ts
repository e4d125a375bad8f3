import type { Cancel } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import type { GrpcListenOptions } from "../listen/options.js";

/** Answers a call of any service here. */
export type Handle = (call: ServerCall) => void | Promise<void>;

export interface ConnectProtocolOptions {
  readonly options: GrpcListenOptions;
  readonly tunnelOnly: boolean;
  /** Fires when the listener begins to close. */
  readonly closing: Cancel;
}
