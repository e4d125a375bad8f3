import type { Account, Cancel, Context, CredentialWatch, Identity, IdleCaller, ListenOptions } from "../../core/index.js";
import type { KnownCallers } from "./known-callers.js";
import type { Parking } from "./parking.js";

export interface ServeLinkOptions extends ListenOptions {
  /** Whom the peer's credentials stand for. */
  readonly principal?: string | undefined;
  /** The address that it calls from: what a caller without a principal uses up counts for it. */
  readonly remote?: string | undefined;
  /** Whether the peer may have left, where its link cannot tell. */
  readonly idle?: IdleCaller | undefined;
  /**
   * Who the peer is. Unless given it is the link's own caller, and gone when the link ends. `each`: requests come each by itself, so
   * a caller is its principal, or else known for one call only.
   */
  readonly identity?: Identity | "each" | undefined;
  /** Where callers are remembered that have no link of their own; a link has its own memory unless given. */
  readonly callers?: KnownCallers | undefined;
  readonly metadata?: Context["metadata"] | undefined;
  /** When every call of the link is over, in epoch milliseconds; enforced by whoever feeds it. */
  readonly deadline?: number | undefined;
  /** Methods whose calls end only when they are left, beside subscriptions: nobody waits for them to be answered. */
  readonly endless?: ReadonlySet<string> | undefined;
  /** Serves legacy requests of this protocol version without an `initialize`, each by itself. */
  readonly assume?: string | undefined;
  /** Shared by the links of one listener; a link has one of its own unless given. */
  readonly parking?: Parking | undefined;
  /** Drains the link, and closes it, when they are no longer valid. */
  readonly credentials?: CredentialWatch | undefined;
  /** Where the connection's bytes are counted; a link has an account of its own unless given. */
  readonly account?: Account | undefined;
  /** Drains the link when it fires, and closes it. */
  readonly closing?: Cancel | undefined;
}
