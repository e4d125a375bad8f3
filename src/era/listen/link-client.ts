import type { Context, Identity } from "../../core/index.js";
import type { RelayedCaller } from "../envelope.js";
import type { CallerLease } from "./known-callers.js";

/** The client at the other end of a link. */
export interface LinkClient {
  readonly principal: string | undefined;
  readonly metadata: Context["metadata"];
  /** The caller of one call, for the duration of that call. `session`: the legacy session in which the call is made. */
  caller(relayed: RelayedCaller | undefined, session?: Identity): CallerLease;
}
