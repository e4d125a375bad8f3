import { type Incoming, type OutgoingMessage, serialise } from "../../../codec/index.js";
import { type Cancel, Canceller, type Fault, type JsonObject, type Limits, toFault } from "../../../core/index.js";
import type { HttpClient, Sent } from "../../../io/index.js";
import { SSE_TYPE } from "../answer.js";
import { readEvents, type Seen } from "./events.js";
import { httpFault } from "./fault.js";
import { KeptState } from "./kept-state.js";
import { wait } from "./wait.js";

/** What a session needs of the link whose it is. */
export interface SessionHost {
  readonly url: URL;
  readonly client: HttpClient;
  readonly limits: Limits;
  /** Fires when the link is closed. */
  readonly cancel: Cancel;
  headers(message?: OutgoingMessage): Record<string, string>;
  deliver(messages: readonly Incoming[]): Promise<void>;
  fault(fault: Fault): void;
}

/** How often a stream is tried again without an event in between. */
export const RESUMES = 5;
/** The same for a server that had a stream of no call: it may be starting anew. */
const RETURNS = 12;

/** Milliseconds before the next try. */
export function pause(tries: number): number {
  return Math.min(50 * 2 ** tries, 2_000);
}

/** The legacy session of a link: its stream of what belongs to no call, its end, and its beginning anew when the server has lost it. */
export class LegacySession {
  id: string | undefined;
  /** What began it, to begin it again. */
  initialize: OutgoingMessage | undefined;
  readonly kept: KeptState = new KeptState();
  readonly #host: SessionHost;
  #reviving: Promise<boolean> | undefined;
  #listening = false;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** A GET of the stream that has the event `last`. */
  get(last: string | undefined, cancel: Cancel): Promise<Sent> {
    const { client, url } = this.#host;
    const headers = { ...this.#host.headers(), accept: SSE_TYPE, ...(last === undefined ? undefined : { "last-event-id": last }) };
    return client.send("GET", url, { headers, cancel });
  }

  /** Tells the server that it is over, without waiting for long. */
  async end(): Promise<void> {
    if (this.id === undefined) return;
    const { client, url } = this.#host;
    const cancel = new Canceller();
    const timer = setTimeout(() => cancel.fire(), 500);
    await client.send("DELETE", url, { headers: this.#host.headers(), cancel }).then(
      (sent) => sent.text(1024).catch(() => ""),
      () => "",
    );
    clearTimeout(timer);
  }

  /** Reads the stream of no call, which is kept open while the session lives. One at a time, also when the session begins anew. */
  async listen(): Promise<void> {
    const { limits, cancel } = this.#host;
    if (this.#listening || cancel.fired) return;
    this.#listening = true;
    const seen: Seen = { last: undefined, retry: undefined };
    let session = this.id;
    let had = false;
    for (let tries = 0; tries < (had ? RETURNS : RESUMES) && !cancel.fired; tries++) {
      if (session !== this.id) {
        session = this.id;
        seen.last = undefined;
      }
      const before = seen.last;
      try {
        const sent = await this.get(seen.last, cancel);
        if (sent.status !== 200) {
          await sent.text(limits.messageBytes);
          // Not every server has one; one that had it does not know the session any more.
          if (sent.status === 405) break;
          if (sent.status === 404 && session === this.id && !(had && session !== undefined && (await this.revive(session)))) break;
          seen.last = undefined;
        } else {
          had = true;
          await readEvents(sent, { limits, seen, take: (messages) => this.#host.deliver(messages) });
        }
      } catch (error) {
        const fault = toFault(error);
        if (!cancel.fired) this.#host.fault(fault);
        // A person who did not sign in is not asked over and over.
        if (fault.code === "unauthenticated") break;
      }
      if (seen.last !== before) tries = 0;
      await wait(seen.retry ?? pause(tries), cancel);
    }
    this.#listening = false;
  }

  /** Begins it anew, once for all who found it gone. */
  revive(lost: string): Promise<boolean> {
    if (this.id !== lost) return Promise.resolve(true);
    this.#reviving ??= this.#begin().finally(() => {
      this.#reviving = undefined;
    });
    return this.#reviving;
  }

  /** Until it has begun the old id stands, so that whoever finds that gone, too, comes here. */
  async #begin(): Promise<boolean> {
    const { limits } = this.#host;
    const { method, params } = this.initialize as { method: string; params?: JsonObject };
    const sent = await this.#post({ jsonrpc: "2.0", id: "initialize-again", method, ...(params === undefined ? undefined : { params }) });
    await sent.text(limits.messageBytes);
    if (sent.status !== 200) return false;
    this.id = sent.header("mcp-session-id");
    const ready = await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
    const text = await ready.text(limits.messageBytes);
    if (ready.status >= 400) throw httpFault(ready.status, text);
    void this.listen();
    for (const request of this.kept.requests()) await this.#tell(request);
    await this.#host.deliver(this.kept.doubts().map((doubt) => ({ kind: "notification", ...doubt })));
    return true;
  }

  /** Makes a request of the link's own: whatever comes with its answer goes on, the answer does not. */
  async #tell({ id, ...rest }: { readonly id: string; readonly method: string; readonly params: JsonObject }): Promise<void> {
    const { limits } = this.#host;
    const sent = await this.#post({ jsonrpc: "2.0", id, ...rest });
    if (sent.header("content-type")?.startsWith(SSE_TYPE) !== true) return void (await sent.text(limits.messageBytes));
    await readEvents(sent, {
      limits,
      seen: { last: undefined, retry: undefined },
      take: (messages) => this.#host.deliver(messages.filter((each) => !("id" in each) || each.id !== id)),
    });
  }

  #post(message: OutgoingMessage): Promise<Sent> {
    const { client, url, cancel } = this.#host;
    return client.send("POST", url, { headers: this.#host.headers(message), body: serialise(message), cancel });
  }
}
