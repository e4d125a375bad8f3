import type { ListenOptions } from "../../core/index.js";
import type { SessionLimits } from "../../era/index.js";
import type { AuthOptions, GuardOptions, SecureListenOptions } from "../../io/index.js";
import type { EventStore } from "./events.js";

/** A mounted handler leaves TLS to its host. */
export interface HttpOptions extends ListenOptions, GuardOptions, SecureListenOptions, SessionLimits {
  /** Where the endpoint is. A listener takes it from its address; a mounted handler answers every path unless it is given. */
  readonly path?: string | undefined;
  /** Legacy requests stand alone: no sessions. */
  readonly stateless?: boolean | undefined;
  /** Answers are one JSON object each, never a stream. Implies `stateless` for legacy clients. */
  readonly jsonOnly?: boolean | undefined;
  readonly auth?: AuthOptions | undefined;
  /** Keeps what was sent on legacy streams; in memory unless given. */
  readonly events?: EventStore | undefined;
  /** Milliseconds that a legacy call waits for its client to come back to its stream, once enough waits for it; 30,000 unless given. */
  readonly awayMs?: number | undefined;
  /** Milliseconds after which the connection of a legacy call is let go, and its client comes back for the rest; never unless given. */
  readonly pollMs?: number | undefined;
  /** Milliseconds for the head of a request, four times that for the whole; 15,000 unless given. */
  readonly headersMs?: number | undefined;
  /** Milliseconds between signs of life on a quiet stream. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Milliseconds without a word of a legacy client, while its stream is open, after which it is sent a `ping`; 30,000 unless given,
   * `Infinity`: never. One that has answered before and leaves two unanswered is gone, and its streams are cut.
   */
  readonly pingMs?: number | undefined;
}
