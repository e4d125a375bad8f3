import type { Link, OutgoingMessage } from "../../codec/index.js";
import { Fault, toFault, toRpcError } from "../../core/index.js";

export interface AnswersOptions {
  /** How many answers may wait for room on the link. */
  readonly max: number;
  /** Not called for answers that a link that has ended no longer carries. */
  readonly onFault: (fault: Fault) => void;
  /** Leaves the peer. */
  readonly leave: (reason: Fault) => void;
}

interface AnswersLink extends Pick<Link, "send"> {
  /** Why the link has ended, if it has. */
  readonly gone: Fault | undefined;
}

/**
 * The answers to a peer's requests. If a peer keeps asking and does not read the answers, the link is closed, because they would pile up
 * here.
 */
export class PeerAnswers {
  readonly #link: AnswersLink;
  readonly #options: AnswersOptions;
  /** Answers that the link has no room for yet. */
  #unread = 0;

  constructor(link: AnswersLink, options: AnswersOptions) {
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
      if (this.#link.gone !== undefined) return;
      onFault(fault);
      // If an answer cannot be written, an error is sent instead, so that the peer does not wait.
      if ("result" in message && fault.code !== "unavailable")
        this.send({ jsonrpc: "2.0", id: message.id, error: toRpcError(fault, "legacy") });
    });
    if (this.#unread > max)
      leave(new Fault("overload", "the peer asks and does not read the answers", { data: { limit: "inFlight", max } }));
  }
}
