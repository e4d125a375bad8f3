import type { Account, Cancel, Context, CredentialWatch, Identity, IdleCaller, ListenOptions } from "../../core/index.js";
import type { KnownCallers } from "./known-callers.js";
import type { Parking } from "./parking.js";

export interface ServeLinkOptions extends ListenOptions {
  /** The principal that the peer's credentials stand for. */
  readonly principal?: string | undefined;
  /** The address that the peer calls from. The quotas of a caller without a principal count for it. */
  readonly remote?: string | undefined;
  /** For a link that cannot see its peer leave: tells whether the peer may have left. */
  readonly idle?: IdleCaller | undefined;
  /**
   * Who the peer is. By default it is the link's own caller, which ends with the link. `each`: every request stands alone, so the caller is
   * its principal, or else known for one call only.
   */
  readonly identity?: Identity | "each" | undefined;
  /** Remembers callers that have no link of their own; a link has its own memory unless given. */
  readonly callers?: KnownCallers | undefined;
  readonly metadata?: Context["metadata"] | undefined;
  /** When every call of the link has to be over, in epoch milliseconds. Whoever feeds the link enforces it. */
  readonly deadline?: number | undefined;
  /** Methods whose calls end only when they are left, in addition to subscriptions. A drain does not wait for them. */
  readonly endless?: ReadonlySet<string> | undefined;
  /** Serves legacy requests of this protocol version without an `initialize`, each on its own. */
  readonly assume?: string | undefined;
  /** Shared by the links of one listener; a link has one of its own unless given. */
  readonly parking?: Parking | undefined;
  /** Watches the credentials: when they are no longer valid, the link is drained and closed. */
  readonly credentials?: CredentialWatch | undefined;
  /** Counts the bytes of the connection; a link has an account of its own unless given. */
  readonly account?: Account | undefined;
  /** When it fires, the link is drained and closed. */
  readonly closing?: Cancel | undefined;
}
