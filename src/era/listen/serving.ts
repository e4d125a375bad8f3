import type { Incoming, Link } from "../../codec/index.js";
import type { Fault } from "../../core/index.js";

/** Where answers go. */
export type AnswerOutlet = Pick<Link, "traits" | "send" | "backlog" | "part">;

/** The serving side of a link, for a wire that hands over its messages itself. */
export interface Serving {
  /** Takes one message. Calls run on their own. Wait for the returned promise before the next message. */
  take(message: Incoming): Promise<void> | undefined;
  /** Whether a question to a legacy client waits for its answer. */
  readonly asking: boolean;
  /** Resolves when everything is answered, or after `ms`. */
  idle(ms: number): Promise<void>;
  /**
   * Refuses new calls with `reason`. Resolves once the accepted calls are answered; those still open after `ms` are answered with `reason`.
   */
  drain(reason: Fault, ms: number): Promise<void>;
  /** Ends every call, and what is parked for this link only. */
  end(reason: Fault): void;
}
