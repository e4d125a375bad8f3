import {
  type Incoming,
  type IncomingError,
  type IncomingResult,
  type OutgoingMessage,
  type OutgoingRequest,
  parseMessage,
  serialise,
} from "../../../codec/index.js";
import { type Cancel, Canceller, type Fault, type JsonObject, type Limits, toFault } from "../../../core/index.js";
import { isForGood, LegacyState } from "../../../era/index.js";
import type { HttpClient, HttpSendOptions, Sent } from "../../../io/index.js";
import { within } from "../../../stream/index.js";
import { SSE_TYPE } from "../answer.js";
import { readEvents, type Seen } from "./events.js";
import { httpFault, noMessage } from "./fault.js";
import { wait } from "./wait.js";

/** What a session needs from its link. */
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
/** The same for the general stream of a server that had one: the server may be restarting. */
const RETURNS = 12;

/** Milliseconds for a server to open the general stream. After that the changes are reported in any case. */
const LISTEN_MS = 1000;
/** The same for a call in which the server may ask. Some servers answer only with the first event, so this is limited. */
const READY_MS = 5000;

/** Milliseconds before the next try. */
export function retryPause(tries: number): number {
  return Math.min(50 * 2 ** tries, 2_000);
}

/**
 * The legacy session of a link: its general stream for messages outside any call, its end, and its restart when the server has lost it.
 */
export class DialedSession {
  id: string | undefined;
  /** The negotiated protocol version. */
  version: string | undefined;
  readonly #state = new LegacyState();
  readonly #host: SessionHost;
  #reviving: Promise<void> | undefined;
  #listening = false;
  #count = 0;
  #listenNow: () => void = () => {};
  /** Resolves when the server has answered the request for the general stream. Set while that is being opened. */
  #opening: Promise<void> | undefined;
  #opened: () => void = () => {};
  /** The session whose general stream is open. */
  #openOf: string | undefined;
  /** The session whose general stream was last asked for. */
  #askedOf: string | undefined;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** Notes a request when it is sent. */
  asked(request: OutgoingRequest): void {
    this.#state.asked(request);
  }

  /** Notes a request that the server has answered with a result. */
  granted(request: OutgoingRequest, result: JsonObject): void {
    this.#state.granted(request);
    if (request.method === "initialize" && typeof result["protocolVersion"] === "string") this.version = result["protocolVersion"];
  }

  /**
   * What a call has to wait for if the server may ask in it. A server that names no call asks on the general stream. Some servers drop the
   * question while that is not open, and the call would never end.
   */
  get ready(): Promise<unknown> | undefined {
    return this.#opening === undefined || !this.#state.canBeAsked ? undefined : within(this.#opening, READY_MS);
  }

  /** A GET of the stream that has the event `last`. */
  get(last: string | undefined, cancel: Cancel, awaits: HttpSendOptions["awaits"] = "head"): Promise<Sent> {
    const { client, url } = this.#host;
    const headers = { ...this.#host.headers(), accept: SSE_TYPE, ...(last === undefined ? undefined : { "last-event-id": last }) };
    return client.send("GET", url, { headers, cancel, awaits });
  }

  /** Tells the server that the session is over, without waiting for long. */
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

  /** Reads the general stream, which is kept open while the session lives. Only one runs at a time, even if the session restarts. */
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
        tries = 0;
      }
      const before = seen.last;
      void this.#open();
      this.#askedOf = session;
      const left = new Canceller();
      const unhook = cancel.on(() => left.fire());
      this.#listenNow = () => left.fire();
      try {
        // Some servers send the headers only with the first event. If a server did not do so before, silence counts.
        const sent = await this.get(seen.last, left, had ? "head" : "nothing");
        if (session === this.id) this.#answered(session);
        if (sent.status !== 200) {
          await sent.text(limits.messageBytes);
          // Not every server has this stream. If the server had it, it no longer knows the session.
          if (sent.status === 405) break;
          if (sent.status === 404 && session === this.id) {
            if (!had || session === undefined) break;
            await this.revive(session);
          }
          seen.last = undefined;
        } else {
          had = true;
          await readEvents(sent, { limits, seen, take: (messages) => this.#host.deliver(messages) });
        }
      } catch (error) {
        const fault = toFault(error);
        if (!left.fired) this.#host.fault(fault);
        // Also, a person who did not sign in is not asked again and again.
        if (!left.fired && isForGood(fault, "refusal")) break;
      } finally {
        unhook();
      }
      if (session === this.id) this.#answered(undefined);
      if (seen.last !== before) tries = 0;
      if (session === this.id) await this.#pause(seen.retry ?? retryPause(tries));
    }
    this.#listening = false;
    this.#answered(undefined);
  }

  /** Opens the general stream, unless it is open. Resolves when the server has answered. */
  #open(): Promise<void> | undefined {
    if (this.#openOf !== undefined && this.#openOf === this.id) return undefined;
    this.#opening ??= new Promise((resolve) => {
      this.#opened = resolve;
    });
    return this.#opening;
  }

  /** The server has answered the request for the general stream. `open`: the session in which it is open. */
  #answered(open: string | undefined): void {
    this.#openOf = open;
    this.#opening = undefined;
    this.#opened();
  }

  /** Waits until the stream is to be tried again: at once if the session restarts. */
  async #pause(ms: number): Promise<void> {
    const waiting = new Canceller();
    this.#listenNow = () => waiting.fire();
    const unhook = this.#host.cancel.on(this.#listenNow);
    await wait(ms, waiting);
    unhook();
  }

  /** Restarts the session, once for all who found it lost. */
  revive(lost: string): Promise<void> {
    if (this.id !== lost) return Promise.resolve();
    this.#reviving ??= this.#begin().finally(() => {
      this.#reviving = undefined;
    });
    return this.#reviving;
  }

  /** The old id stays until the new session has begun, so that others who find it lost come here too. */
  async #begin(): Promise<void> {
    let listens: Promise<void> | undefined;
    const notify = async (message: OutgoingMessage): Promise<void> => {
      await this.#post(message);
      listens = this.#open();
      void this.listen();
      // A server that has forgotten a session may still keep its stream open.
      if (this.#askedOf !== this.id) this.#listenNow();
    };
    const news = await this.#state.restore({ request: (request) => this.#ask(request), notify }, this.#host.fault);
    // A client that looks again must then hear of later changes, so the stream is opened first.
    void within(listens ?? Promise.resolve(), LISTEN_MS).then(() => this.#host.deliver(news));
  }

  /** Sends a request of the link itself. Its answer is returned; other messages that come with it are passed on. */
  async #ask({ method, params }: OutgoingRequest): Promise<IncomingResult | IncomingError> {
    const { limits } = this.#host;
    const request = { jsonrpc: "2.0" as const, id: `anywire-again-${++this.#count}`, method, ...(params && { params }) };
    const { sent, text } = await this.#post(request);
    let answer = text === undefined ? undefined : parseMessage(text, { depth: limits.depth });
    if (text === undefined)
      await readEvents(sent, {
        limits,
        seen: { last: undefined, retry: undefined },
        take: (messages) => {
          answer ??= messages.find((each) => (each.kind === "result" || each.kind === "error") && each.id === request.id);
          return this.#host.deliver(messages.filter((each) => each !== answer));
        },
      });
    if (answer?.kind !== "result" && answer?.kind !== "error") throw noMessage(sent.status, sent.header("content-type"));
    if (method === "initialize" && answer.kind === "result") {
      this.id = sent.header("mcp-session-id");
      this.granted(request, answer.value);
    }
    return answer;
  }

  /** The answer, and its text unless it is an event stream. */
  async #post(message: OutgoingMessage): Promise<{ readonly sent: Sent; readonly text: string | undefined }> {
    const { client, url, cancel, limits } = this.#host;
    const sent = await client.send("POST", url, { headers: this.#host.headers(message), body: serialise(message), cancel });
    if (sent.status < 300 && sent.header("content-type")?.startsWith(SSE_TYPE) === true) return { sent, text: undefined };
    const text = await sent.text(limits.messageBytes);
    if (sent.status >= 300) throw httpFault(sent.status, text);
    return { sent, text };
  }
}
