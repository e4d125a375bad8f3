import { type Incoming, serialise } from "../../codec/index.js";
import { type Cancel, Fault } from "../../core/index.js";
import { httpClient } from "../../io/index.js";
import { within } from "../../stream/index.js";
import type { SseDialOptions } from "./dial.js";

const ID = "anywire-alive";
const body = serialise({ jsonrpc: "2.0", id: ID, method: "ping" });

/** Asks the server of a stream whether it is there, by a request whose answer comes on the stream. */
export class StreamPing {
  readonly #url: URL;
  readonly #options: SseDialOptions;
  readonly #cancel: Cancel;
  /** Where to POST, once the stream has named it. */
  target: URL | undefined;
  #heard: () => void = () => {};

  constructor(url: URL, options: SseDialOptions, cancel: Cancel) {
    this.#url = url;
    this.#options = options;
    this.#cancel = cancel;
  }

  /** Something has come on the stream, or it is left. */
  heard(): void {
    this.#heard();
  }

  isAnswer(message: Incoming): boolean {
    return (message.kind === "result" || message.kind === "error") && message.id === ID;
  }

  /** Sends it on a new connection. Rejects if that fails, or if nothing comes on the stream in time. */
  async send(deadMs: number): Promise<void> {
    const url = this.target;
    if (url === undefined) throw new Fault("unavailable", "the server has named no endpoint");
    const heard = new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
    const { tls, pingMs, auth, headers } = this.#options;
    const client = httpClient({ tls, pingMs, deadMs });
    try {
      const credentials = await auth?.headers({ method: "POST", url, resource: this.#url });
      const all = { "content-type": "application/json", ...headers, ...credentials };
      await client.send("POST", url, { headers: all, body, prompt: true, cancel: this.#cancel });
    } finally {
      client.close();
    }
    if (!(await within(heard, deadMs))) throw new Fault("unavailable", "the server has not answered a ping");
  }
}
