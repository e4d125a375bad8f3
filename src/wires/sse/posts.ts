import { type Id, isBatch, namedCall, type Outgoing } from "../../codec/index.js";
import { type Cancel, Canceller, Fault, fixedTimeouts, type Limits, redactText, statusMeaning } from "../../core/index.js";
import type { HttpClient } from "../../io/index.js";
import { ignore, within } from "../../stream/index.js";

export interface PostsOptions {
  readonly client: HttpClient;
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** Fires when the link is closed. */
  readonly cancel: Cancel;
}

/** Characters of messages that may wait to leave. */
const WINDOW = 1024 * 1024;

/** The messages to the server, each a POST. The answers to its requests come on the stream. */
export class Posts {
  readonly #options: PostsOptions;
  /** Those of requests. */
  readonly #open = new Map<Id, Canceller>();
  readonly #waiting = new Set<() => void>();
  /** Characters that have not left yet. */
  backlog = 0;

  constructor(options: PostsOptions) {
    this.#options = options;
  }

  /** Resolves when the server has taken the message. Of a request that may be after its answer. */
  async post(message: Outgoing, text: string): Promise<void> {
    const { client, target, headers, limits, cancel } = this.#options;
    const request = requestOf(message);
    const left = new Canceller();
    const unhook = cancel.on(() => left.fire(cancel.reason));
    if (request !== undefined) this.#open.set(request, left);
    let unsent = text.length;
    this.backlog += unsent;
    const onSent = (): void => {
      this.backlog -= unsent;
      unsent = 0;
      this.#wake();
    };
    try {
      const answer = await client.send("POST", target, {
        headers: { "content-type": "application/json", ...headers },
        body: text,
        cancel: left,
        // It may be what the calls wait for that have all the connections: some servers answer a POST only after its call.
        urgent: request === undefined,
        onSent,
      });
      const body = answer.text(limits.messageBytes);
      if (answer.status >= 400) throw unexpectedStatus(answer.status, await body);
      // What else the server says here does not matter, and some never end it.
      if (!(await within(body.catch(ignore), fixedTimeouts.lingerMs))) left.fire();
    } catch (error) {
      if (cancel.fired || !left.fired) throw error;
    } finally {
      unhook();
      onSent();
      if (request !== undefined) this.#open.delete(request);
      else this.#leave(cancelledBy(message));
    }
  }

  /** Resolves when there is room for another message, or after the link was closed. */
  async room(): Promise<void> {
    if (this.backlog > WINDOW) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  #leave(call: Id | undefined): void {
    if (call !== undefined) this.#open.get(call)?.fire();
  }
}

/** The id of a message that the server answers. */
export function requestOf(message: Outgoing): Id | undefined {
  return !isBatch(message) && "method" in message && "id" in message ? message.id : undefined;
}

function cancelledBy(message: Outgoing): Id | undefined {
  const cancels = !isBatch(message) && "method" in message && message.method === "notifications/cancelled";
  return cancels ? namedCall(message.params) : undefined;
}

export function unexpectedStatus(status: number, body = ""): Fault {
  return new Fault(
    statusMeaning(status),
    `the server answered HTTP ${status}${body === "" ? "" : `: ${redactText(body.slice(0, 200)).trim()}`}`,
    {
      data: { status },
    },
  );
}
