import type { Context } from "../../core/index.js";
import type { RelayedCaller } from "../envelope.js";
import type { CallerLease } from "./known-callers.js";

/** Who is at the other end of a link. */
export interface Party {
  readonly principal: string | undefined;
  readonly metadata: Context["metadata"];
  /** Who makes a call, for the time of that call. */
  caller(relayed: RelayedCaller | undefined): CallerLease;
}
