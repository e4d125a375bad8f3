import type { Link, OutgoingMessage } from "../../codec/index.js";
import { Fault, toFault, toRpcError } from "../../core/index.js";

export interface AnswersOptions {
  /** How many may wait for room on the link. */
  readonly max: number;
  readonly onFault: (fault: Fault) => void;
  /** Leaves the peer. */
  readonly leave: (reason: Fault) => void;
}

/** The answers to a peer's requests. A peer that asks on and does not read them is left, because they would pile up here. */
export class PeerAnswers {
  readonly #link: Pick<Link, "send">;
  readonly #options: AnswersOptions;
  /** Those that the link has not made room for yet. */
  #unread = 0;

  constructor(link: Pick<Link, "send">, options: AnswersOptions) {
    this.#link = link;
    this.#options = options;
  }

  send(message: OutgoingMessage): void {
    const { max, onFault, leave } = this.#options;
    this.#unread++;
    const taken = (): void => {
      this.#unread--;
    };
    this.#link.send(message).then(taken, (error) => {
      taken();
      const fault = toFault(error);
      onFault(fault);
      // An answer that cannot be written becomes an error: the peer is not left waiting.
      if ("result" in message && fault.code !== "unavailable")
        this.send({ jsonrpc: "2.0", id: message.id, error: toRpcError(fault, "legacy") });
    });
    if (this.#unread > max)
      leave(new Fault("overload", "the peer asks and does not read the answers", { data: { limit: "inFlight", max } }));
  }
}
