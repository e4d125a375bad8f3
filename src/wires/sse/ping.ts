import { type Incoming, serialise } from "../../codec/index.js";
import { type Cancel, Fault, lowerCase } from "../../core/index.js";
import { httpClient } from "../../io/index.js";
import { within } from "../../stream/index.js";
import type { SseDialOptions } from "./dial.js";

const ID = "anywire-alive";
const body = serialise({ jsonrpc: "2.0", id: ID, method: "ping" });

/** Pings the server of a stream with a request whose answer comes on the stream. */
export class StreamPing {
  readonly #url: URL;
  readonly #options: SseDialOptions;
  readonly #cancel: Cancel;
  /** The endpoint to POST to, once the stream has named it. */
  target: URL | undefined;
  #heard: () => void = () => {};
  /** Whether the server has ever answered a ping. Not every server does. */
  #answers = false;

  constructor(url: URL, options: SseDialOptions, cancel: Cancel) {
    this.#url = url;
    this.#options = options;
    this.#cancel = cancel;
  }

  /** Something has arrived on the stream, or the stream was left. */
  heard(): void {
    this.#heard();
  }

  /** Whether a message is the answer to a ping, so that nobody else needs it. */
  isAnswer(message: Incoming): boolean {
    const answer = (message.kind === "result" || message.kind === "error") && message.id === ID;
    this.#answers ||= answer;
    return answer;
  }

  /** Sends a ping on a new connection. Rejects if that fails, or if a server that has answered before leaves the stream silent. */
  async send(deadMs: number): Promise<void> {
    const url = this.target;
    if (url === undefined) throw new Fault("unavailable", "the server has named no endpoint");
    const heard = new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
    const { tls, pingMs, auth, headers } = this.#options;
    const client = httpClient({ tls, pingMs, deadMs });
    try {
      const credentials = lowerCase(await auth?.headers({ method: "POST", url, resource: this.#url }));
      const all = { "content-type": "application/json", ...headers, ...credentials };
      await client.send("POST", url, { headers: all, body, awaits: "head", cancel: this.#cancel });
    } finally {
      client.close();
    }
    if (this.#answers && !(await within(heard, deadMs))) throw new Fault("unavailable", "the server has not answered a ping");
  }
}
