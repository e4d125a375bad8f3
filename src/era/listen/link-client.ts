import type { Context, Identity } from "../../core/index.js";
import type { RelayedCaller } from "../envelope.js";
import type { CallerLease } from "./known-callers.js";

/** Who is at the other end of a link. */
export interface LinkClient {
  readonly principal: string | undefined;
  readonly metadata: Context["metadata"];
  /** Who makes a call, for the time of that call. `session`: the legacy session that it is made in. */
  caller(relayed: RelayedCaller | undefined, session?: Identity): CallerLease;
}
