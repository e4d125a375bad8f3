import type { Cancel, Context, ListenOptions } from "../../core/index.js";
import type { Parking } from "./parking.js";

export interface ServeLinkOptions extends ListenOptions {
  /** Names the peer; random unless given. */
  readonly key?: string | undefined;
  readonly principal?: string | undefined;
  readonly metadata?: Context["metadata"] | undefined;
  /** When every call of the link is over, in epoch milliseconds; enforced by whoever feeds it. */
  readonly deadline?: number | undefined;
  /** Methods whose calls end only when they are left, beside subscriptions: nobody waits for them to be answered. */
  readonly endless?: ReadonlySet<string> | undefined;
  /** Serves legacy requests of this protocol version without an `initialize`, each by itself. */
  readonly assume?: string | undefined;
  /** Shared by the links of one listener; a link has one of its own unless given. */
  readonly parking?: Parking | undefined;
  /** Drains the link when it fires, and closes it. */
  readonly closing?: Cancel | undefined;
}
