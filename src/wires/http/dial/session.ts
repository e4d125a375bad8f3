import {
  type Id,
  type Incoming,
  type IncomingError,
  type IncomingPart,
  type IncomingResult,
  namedCall,
  type OutgoingMessage,
  type OutgoingRequest,
  parseMessage,
  serialise,
} from "../../../codec/index.js";
import {
  type Cancel,
  Canceller,
  type Fault,
  fixedTimeouts,
  isObject,
  type JsonObject,
  jsonText,
  type Limits,
  toFault,
} from "../../../core/index.js";
import { awayStatuses, isForGood, LegacyState } from "../../../era/index.js";
import type { HttpClient, HttpSendOptions, Sent } from "../../../io/index.js";
import { Backoff, within } from "../../../stream/index.js";
import { mediaType, SSE_TYPE } from "../media-types.js";
import { type ParsedEvent, readEvents, type Seen } from "./events.js";
import { httpFault, isRefusal, isUnknownSession, noMessage } from "./fault.js";
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

/** How often a stream is tried again without an event in between. The general stream of a server that had one is tried for ever. */
export const RESUMES = 5;
/** A stream that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;

/** Milliseconds for a server to open the general stream. After that the changes are reported in any case. */
const LISTEN_MS = 1000;
/** The same for a call in which the server may ask. Some servers answer only with the first event, so this is limited. */
const READY_MS = 5000;
/** The same for the server to hear that the session is over. */
const END_MS = 500;

function isDeadPeer({ data }: Fault): boolean {
  return isObject(data) && data["reason"] === "dead-peer";
}

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
  /** The server's own requests that wait for an answer. */
  readonly #questions = new Set<Id>();
  /** When the server last said what it is. */
  #asked = 0;
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
    this.#state.granted(request, result);
    if (request.method !== "initialize") return;
    this.#asked = Date.now();
    if (typeof result["protocolVersion"] === "string") this.version = result["protocolVersion"];
  }

  /** Notes a message of the server. */
  heard(message: Incoming | IncomingPart): void {
    if (message.kind === "request") this.#questions.add(message.id);
    else if (message.kind === "batch") for (const each of message.messages) this.heard(each);
    else if (message.kind === "notification" && message.method === "notifications/cancelled") this.answered(namedCall(message.params));
  }

  /** Notes that a request of the server is answered, or withdrawn. */
  answered(id: Id | null | undefined): void {
    if (id !== null && id !== undefined) this.#questions.delete(id);
  }

  /**
   * What a call has to wait for if the server may ask in it. A server that names no call asks on the general stream. Some servers drop the
   * question while that is not open, and the call would never end.
   */
  get ready(): Promise<unknown> | undefined {
    if (!this.#state.canBeAsked) return undefined;
    // The id of a new session is known before its stream is asked for.
    const restarted = this.#reviving?.then(
      () => this.#opening,
      () => undefined,
    );
    const opening = restarted ?? this.#opening;
    return opening === undefined ? undefined : within(opening, READY_MS);
  }

  /** A GET of the stream that has the event `last`. */
  get(last: string | undefined, cancel: Cancel, options: Pick<HttpSendOptions, "awaits" | "urgent"> = { awaits: "head" }): Promise<Sent> {
    const { client, url } = this.#host;
    const headers = { ...this.#host.headers(), accept: SSE_TYPE, ...(last === undefined ? undefined : { "last-event-id": last }) };
    return client.send("GET", url, { ...options, headers, cancel });
  }

  /** Tells the server that the session is over, without waiting for long. */
  async end(): Promise<void> {
    if (this.id === undefined) return;
    const { client, url } = this.#host;
    const cancel = new Canceller();
    const told = client.send("DELETE", url, { headers: this.#host.headers(), cancel, urgent: true }).then(
      (sent) => sent.text(1024).catch(() => ""),
      () => "",
    );
    // Whoever has the credentials may not answer, either.
    await within(told, END_MS);
    cancel.fire();
  }

  /** Reads the general stream, which is kept open while the session lives. Only one runs at a time, even if the session restarts. */
  async listen(): Promise<void> {
    const { limits, cancel } = this.#host;
    if (this.#listening || cancel.fired) return;
    this.#listening = true;
    const seen: Seen = { last: undefined, retry: undefined };
    const backoff = new Backoff<undefined>();
    let session = this.id;
    let had = false;
    // Whether the server may have said something that nobody got.
    let missed = false;
    for (let tries = 0; (had || tries < RESUMES) && !cancel.fired; tries++) {
      if (session !== this.id) {
        session = this.id;
        seen.last = undefined;
        tries = 0;
        missed = false;
        backoff.reset();
      }
      const { last } = seen;
      const since = Date.now();
      let opened = false;
      void this.#open();
      this.#askedOf = session;
      const left = new Canceller();
      const unhook = cancel.on(() => left.fire());
      this.#listenNow = () => left.fire();
      try {
        // Some servers send the headers only with the first event. If a server did not do so before, silence counts.
        const sent = await this.get(last, left, { awaits: had ? "head" : "nothing", urgent: true });
        if (session === this.id) this.#answered(session);
        const type = mediaType(sent.header("content-type"));
        if (sent.status === 200 && type !== undefined && type !== SSE_TYPE) {
          // It answers every GET with a page.
          await sent.text(limits.messageBytes);
          if (!had) break;
          missed = true;
        } else if (sent.status !== 200) {
          const text = await sent.text(limits.messageBytes);
          // Not every server has this stream. If the server had it, it no longer knows the session.
          if (sent.status === 405) break;
          if (isUnknownSession(sent.status, text) && session === this.id) {
            if (!had || session === undefined) break;
            await this.revive(session);
          }
          // The server may not know the event any more. The answer of a proxy whose server is away says nothing about that.
          if (!awayStatuses.has(sent.status)) seen.last = undefined;
          missed = had;
        } else {
          had = opened = true;
          // A server that gives its events ids sends again what was missed.
          if (missed && last === undefined) await this.#host.deliver(this.#state.news);
          missed = false;
          await readEvents(sent, { limits, seen, take: (messages) => this.#host.deliver(messages) });
        }
      } catch (error) {
        const fault = toFault(error);
        // One report is enough for a server that stays away.
        if (!left.fired && !missed) this.#host.fault(fault);
        // Also, a person who did not sign in is not asked again and again.
        if (!left.fired && isForGood(fault, "refusal")) break;
        // A stream that broke is open again at once: proxies cut idle ones all the time.
        missed ||= had && (!opened || isDeadPeer(fault));
      } finally {
        unhook();
      }
      if (session === this.id) this.#answered(undefined);
      if (seen.last !== last || (opened && Date.now() - since >= LASTED_MS)) {
        tries = 0;
        backoff.reset();
      }
      backoff.failed(undefined);
      if (session === this.id) await this.#pause(Math.max(seen.retry ?? 0, backoff.wait));
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
    if (this.#reviving === undefined) void this.#withdraw();
    this.#reviving ??= this.#begin().finally(() => {
      this.#reviving = undefined;
    });
    return this.#reviving;
  }

  /** The server has forgotten what it asked. The next session may use the same ids, so an answer would be taken for another one. */
  async #withdraw(): Promise<void> {
    const asked = [...this.#questions];
    this.#questions.clear();
    const reason = "the server has lost the session";
    const cancelled = asked.map((requestId) => ({
      kind: "notification" as const,
      method: "notifications/cancelled",
      params: { requestId, reason },
    }));
    if (asked.length > 0) await this.#host.deliver(cancelled);
  }

  /**
   * What a server without sessions says about itself now. Nothing tells when such a server is replaced, so it is asked again, unless that
   * was just done. If it says something new, the changes are reported.
   */
  async refresh(): Promise<JsonObject | undefined> {
    if (this.id !== undefined || !this.#state.begun || Date.now() - this.#asked < fixedTimeouts.freshMs) return undefined;
    this.#reviving ??= this.#begin().finally(() => {
      this.#reviving = undefined;
    });
    await this.#reviving.catch(this.#host.fault);
    return this.#state.initialized;
  }

  /** The old id stays until the new session has begun, so that others who find it lost come here too. */
  async #begin(): Promise<void> {
    let listens: Promise<void> | undefined;
    const notify = async (message: OutgoingMessage): Promise<void> => {
      await this.#post(message, this.#host.cancel);
      listens = this.#open();
      void this.listen();
      // A server that has forgotten a session may still keep its stream open.
      if (this.#askedOf !== this.id) this.#listenNow();
    };
    const before = this.id === undefined ? jsonText(this.#state.initialized) : undefined;
    this.#asked = Date.now();
    const news = await this.#state.restore({ request: (request) => this.#ask(request), notify }, this.#host.fault);
    if (before === jsonText(this.#state.initialized)) return;
    // A client that looks again must then hear of later changes, so the stream is opened first.
    void within(listens ?? Promise.resolve(), LISTEN_MS).then(() => this.#host.deliver(news));
  }

  /** Sends a request of the link itself. Its answer is returned; other messages that come with it are passed on. */
  async #ask({ method, params }: OutgoingRequest): Promise<IncomingResult | IncomingError> {
    const { limits } = this.#host;
    const request = { jsonrpc: "2.0" as const, id: `anywire-again-${++this.#count}`, method, ...(params && { params }) };
    const left = new Canceller();
    const unhook = this.#host.cancel.on(() => left.fire());
    try {
      const { sent, text } = await this.#post(request, left);
      const answer = text === undefined ? await this.#answerIn(sent, request.id, left) : parseMessage(text, { depth: limits.depth });
      if (answer?.kind !== "result" && answer?.kind !== "error") throw noMessage(sent.status, sent.header("content-type"));
      if (method === "initialize" && answer.kind === "result") {
        this.id = sent.header("mcp-session-id");
        this.granted(request, answer.value);
      }
      return answer;
    } finally {
      unhook();
    }
  }

  /** The answer in a stream, which is left then: some servers leave it open. Other messages are passed on. */
  async #answerIn(sent: Sent, id: Id, left: Canceller): Promise<ParsedEvent | undefined> {
    const { limits, deliver } = this.#host;
    let answer: ParsedEvent | undefined;
    const take = async (messages: readonly ParsedEvent[]): Promise<void> => {
      answer ??= messages.find((each) => (each.kind === "result" || each.kind === "error") && each.id === id);
      await deliver(messages.filter((each) => each !== answer));
      if (answer !== undefined) left.fire();
    };
    await readEvents(sent, { limits, seen: { last: undefined, retry: undefined }, take }).catch((error) => {
      if (answer === undefined) throw error;
    });
    return answer;
  }

  /** The answer, and its text unless it is an event stream. */
  async #post(message: OutgoingMessage, cancel: Cancel): Promise<{ readonly sent: Sent; readonly text: string | undefined }> {
    const { client, url, limits } = this.#host;
    const sent = await client.send("POST", url, { headers: this.#host.headers(message), body: serialise(message), cancel });
    if (sent.status < 300 && mediaType(sent.header("content-type")) === SSE_TYPE) return { sent, text: undefined };
    const text = await sent.text(limits.messageBytes);
    // An error of the server itself says more than its status, but a refused caller must not look like an unknown method.
    const said =
      sent.status < 400 || isRefusal(sent.status) || sent.status === 401 ? undefined : parseMessage(text, { depth: limits.depth });
    if (sent.status >= 300 && said?.kind !== "error") throw httpFault(sent.status, text);
    return { sent, text };
  }
}
