import type { Incoming, Link } from "../../codec/index.js";
import type { Fault } from "../../core/index.js";

/** Where answers go. */
export type AnswerOutlet = Pick<Link, "traits" | "send" | "backlog" | "part">;

/** The serving side of a link, for a wire that feeds it by itself. */
export interface Serving {
  /** Takes one message. Calls run by themselves; what is returned is to be waited for before the next message. */
  take(message: Incoming): Promise<void> | undefined;
  /** Whether a question to its legacy client waits for an answer. */
  readonly asking: boolean;
  /** Resolves when everything is answered, or after `ms`. */
  idle(ms: number): Promise<void>;
  /** Refuses new calls with `reason`; resolves once those taken are answered, after `ms` with `reason` too. Then nothing is open any more. */
  drain(reason: Fault, ms: number): Promise<void>;
  /** Ends every call, and what is parked for this link alone. */
  end(reason: Fault): void;
}
