import type { ListenOptions } from "../../core/index.js";
import type { SessionLimits } from "../../era/index.js";
import type { AuthOptions, GuardOptions, SecureListenOptions } from "../../io/index.js";
import type { EventStore } from "./events.js";

/** A mounted handler leaves TLS to its host. */
export interface HttpOptions extends ListenOptions, GuardOptions, SecureListenOptions, SessionLimits {
  /** The path of the endpoint. A listener takes it from its address; a mounted handler answers every path unless it is given. */
  readonly path?: string | undefined;
  /** Whether legacy requests stand alone, without sessions. */
  readonly stateless?: boolean | undefined;
  /** Whether every answer is a JSON object, never a stream. Implies `stateless` for legacy clients. */
  readonly jsonOnly?: boolean | undefined;
  readonly auth?: AuthOptions | undefined;
  /** Keeps the events of legacy streams; in memory unless given. */
  readonly events?: EventStore | undefined;
  /** Milliseconds that a legacy call with enough waiting events waits for its client to come back; 30,000 unless given. */
  readonly awayMs?: number | undefined;
  /**
   * Milliseconds after which the connection of a legacy call is closed, so that its client comes back for the rest; never unless given.
   */
  readonly pollMs?: number | undefined;
  /** Milliseconds for the head of a request; 15,000 unless given. The whole request has four times as long. */
  readonly headersMs?: number | undefined;
  /** Milliseconds between keep-alives on a quiet stream. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Milliseconds of silence from a legacy client with an open stream after which it is sent a `ping`; 30,000 unless given, `Infinity`:
   * never. If a client that has answered before leaves two unanswered, it has gone, and its streams are cut.
   */
  readonly pingMs?: number | undefined;
}
