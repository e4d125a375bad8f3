import {
  type Id,
  type Incoming,
  type IncomingBad,
  type IncomingPart,
  type IncomingResult,
  isBatch,
  namedCall,
  type Outgoing,
  type OutgoingMessage,
  type OutgoingRequest,
  parseMessage,
  partsReader,
  serialise,
} from "../../../codec/index.js";
import {
  type Cancel,
  Canceller,
  type DialOptions,
  defaultLimits,
  Fault,
  fixedTimeouts,
  isObject,
  type JsonObject,
  type Limits,
  legacyVersions,
  lowerCase,
  messageTooLarge,
  modernVersions,
  toFault,
} from "../../../core/index.js";
import {
  hasRoom,
  isOtherEra,
  type Link,
  type LinkTraits,
  listens,
  mayAsk,
  newsOfListen,
  type SendOptions,
  sharedStream,
} from "../../../era/index.js";
import type { HttpAuth, HttpClient, Sent, TlsDialOptions } from "../../../io/index.js";
import { pipe, Registry } from "../../../stream/index.js";
import { JSON_TYPE, mediaType, PARTS_TYPE, SSE_TYPE } from "../media-types.js";
import type { ToolHeaders } from "../tool-headers.js";
import { caughtUp, type HeldReader, readEvents } from "./events.js";
import { httpFault, isRefusal, isUnknownSession, noMessage, refusalFault } from "./fault.js";
import { requestHeaders } from "./headers.js";
import { readLarge } from "./large-read.js";
import { reopenListen } from "./listen-again.js";
import { withoutWrongTools } from "./mirror.js";
import type { Probed } from "./probe.js";
import { DialedSession, RESUMES, retryPause } from "./session.js";
import { wait } from "./wait.js";

export interface HttpDialOptions extends DialOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly tls?: TlsDialOptions | undefined;
  /** Milliseconds between pings on an HTTP/2 connection; 15,000 unless given. */
  readonly pingMs?: number | undefined;
  /**
   * Milliseconds of silence after which a server that has sent keep-alives counts as gone. Any other server is probed, and has as long to
   * answer. 45,000 unless given, `Infinity`: never.
   */
  readonly deadMs?: number | undefined;
  /** The credentials of every request, and how to react when the server asks for others. */
  readonly auth?: HttpAuth | undefined;
}

/** Whose connections can be lost for good. */
export interface HttpLink extends Link {
  /** Fails every open call and every later one. */
  lost(fault: Fault): void;
}

export interface HttpLinkParts {
  /** The arguments of tool calls that headers mirror. */
  readonly tools: ToolHeaders;
  /** Makes what sends the requests. */
  client(probed: Probed): HttpClient;
}

/** A link to an HTTP endpoint: every message is a POST, and what comes back on its answer comes in. */
export function httpLinkOf(url: URL, options: HttpDialOptions, parts: HttpLinkParts): HttpLink {
  return new PostLink(url, options, parts);
}

/** A message that was sent, and the state of its answer. */
interface OpenPost extends HeldReader {
  readonly message: OutgoingMessage;
  readonly text: string;
  readonly metadata: SendOptions["metadata"];
  /** The message, if it is a request. */
  readonly request: OutgoingRequest | undefined;
  readonly cancel: Canceller;
  /** Characters that have not left yet. */
  unsent: number;
  /** The session in which it was sent, or that it began. */
  session: string | undefined;
  /** Whether the server has begun to answer with a stream. */
  streams: boolean;
  /** Whether the caller has received the acknowledgement of its subscription. */
  accepted: boolean;
}

/** Characters of messages that may wait to leave. */
const WINDOW = 1024 * 1024;
/** Milliseconds for the stream of a call to end after the answer. Some servers leave it open, and each holds a connection. */
const ENDING_MS = fixedTimeouts.lingerMs;
/** Bytes of parts that are passed on at once. */
const PARTS_BYTES = 64 * 1024;
/** Every call is a POST with a stream of its own. */
const traits: LinkTraits = { ownStream: () => true, inParts: () => false, bytes: false };

class PostLink implements HttpLink {
  readonly traits = traits;
  readonly part = sharedStream.part;
  readonly incoming: AsyncIterable<readonly (Incoming | IncomingPart)[]>;
  readonly #url: URL;
  readonly #options: HttpDialOptions;
  readonly #limits: Limits;
  readonly #client: HttpClient;
  readonly #tools: ToolHeaders;
  readonly #inbox = pipe<readonly (Incoming | IncomingPart)[]>({ items: 1024 });
  readonly #open = new Registry<OpenPost>();
  readonly #general = new Canceller();
  #underWay = 0;
  readonly #waiting = new Set<() => void>();
  #closed: Fault | undefined;
  readonly #session: DialedSession;
  #legacy = false;

  constructor(url: URL, options: HttpDialOptions, { tools, client }: HttpLinkParts) {
    this.#url = url;
    // However the caller writes a name: his header replaces that of the protocol, or is replaced, and only one is sent.
    this.#options = { ...options, headers: lowerCase(options.headers) };
    this.#tools = tools;
    this.#client = client({ legacy: () => this.#legacy, cancel: this.#general, headers: (message) => this.#headers(message) });
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#session = new DialedSession({
      url,
      client: this.#client,
      limits: this.#limits,
      cancel: this.#general,
      headers: (message) => this.#headers(message),
      deliver: (messages) => this.#deliver(messages),
      fault: (fault) => options.onFault?.(fault),
    });
    this.incoming = this.#inbox;
  }

  get backlog(): number {
    return this.#underWay;
  }

  send(message: Outgoing, options?: SendOptions): Promise<void> {
    if (isBatch(message)) return Promise.reject(new Fault("internal", "batches are received, not sent"));
    try {
      return this.#send(message, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #send(single: OutgoingMessage, options: SendOptions | undefined): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    const cancelled = this.#cancelled(single);
    // A modern call is cancelled by closing its stream.
    if (!this.#legacy && "method" in single && single.method === "notifications/cancelled") {
      leave(cancelled);
      return hasRoom;
    }
    const text = serialise(single);
    if (!("method" in single)) this.#session.answered(single.id);
    if (text.length > this.#limits.messageBytes) throw messageTooLarge(this.#limits.messageBytes);
    const posted = this.#post(single, text, options?.metadata);
    // A message outside any call must arrive before those that follow it.
    if (!("method" in single && "id" in single)) return cancelled === undefined ? posted : posted.finally(() => leave(cancelled));
    posted.catch((error) => this.#fail(single.id, toFault(error)));
    return this.#underWay > WINDOW ? new Promise((resolve) => this.#waiting.add(resolve)) : hasRoom;
  }

  pace(call: Id, held: boolean): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    open.held = held;
    if (!held) open.wake?.();
  }

  refresh(): Promise<JsonObject | undefined> {
    return this.#session.refresh();
  }

  async close(reason?: Fault): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
    this.#general.fire(this.#closed);
    for (const open of this.#open.values()) leave(open);
    for (const wake of this.#waiting) wake();
    await this.#session.end();
    this.#inbox.close();
    this.#client.close();
  }

  lost(fault: Fault): void {
    if (this.#closed !== undefined) return;
    this.#closed = fault;
    this.#general.fire(fault);
    for (const open of this.#open.values()) leave(open);
    for (const wake of this.#waiting) wake();
    this.#inbox.fail(fault);
    this.#client.close();
  }

  /** The call that a message cancels, if it is a cancellation. */
  #cancelled(message: OutgoingMessage): OpenPost | undefined {
    if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
    const id = namedCall(message.params);
    return id === undefined ? undefined : this.#open.get(id);
  }

  #headers(message?: OutgoingMessage, metadata?: SendOptions["metadata"]): Record<string, string> {
    return requestHeaders(message, {
      metadata,
      session: this.#session.id,
      version: this.#session.version ?? (this.#legacy ? legacyVersions[0] : modernVersions[0]),
      headers: this.#options.headers,
      tools: this.#tools,
    });
  }

  async #post(message: OutgoingMessage, text: string, metadata: SendOptions["metadata"]): Promise<void> {
    const request = "id" in message && "method" in message ? message : undefined;
    if (request?.method === "initialize") this.#legacy = true;
    this.#underWay += text.length;
    const cancel = new Canceller();
    const open: OpenPost = {
      message,
      text,
      metadata,
      request,
      cancel,
      unsent: text.length,
      session: undefined,
      held: false,
      wake: undefined,
      streams: false,
      accepted: false,
    };
    if (request !== undefined) {
      this.#open.set(request.id, open);
      this.#session.asked(request);
    }
    try {
      await this.#exchange(open);
    } catch (error) {
      if (cancel.fired) return;
      if (request === undefined || !open.streams || !listens(request.method)) throw error;
      await reopenListen(toFault(error), cancel, () => this.#exchange(open));
    } finally {
      if (request !== undefined) this.#open.delete(request.id);
      this.#sent(open);
    }
  }

  /** The message has left, or will not leave. What its call waits for now is the answer. */
  #sent(open: OpenPost): void {
    this.#underWay -= open.unsent;
    open.unsent = 0;
    if (this.#waiting.size === 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async #exchange(open: OpenPost): Promise<void> {
    const { message, request, text: body, cancel, metadata } = open;
    const begins = request?.method === "initialize";
    const session = this.#session.id;
    const send = (): Promise<Sent> => {
      const post = (): Promise<Sent> => {
        open.session = this.#session.id;
        const headers = this.#headers(message, metadata);
        // An answer or a cancellation may be what the calls that have all the connections wait for.
        return this.#client.send("POST", this.#url, {
          headers,
          body,
          cancel,
          urgent: request === undefined,
          onSent: () => this.#sent(open),
        });
      };
      const ready = request !== undefined && mayAsk(request.method) ? this.#session.ready : undefined;
      return ready === undefined ? post() : ready.then(post);
    };
    let sent = await send();
    this.#sent(open);
    if (session !== undefined && !begins && (sent.status === 404 || sent.status === 400)) {
      const text = await sent.text(this.#limits.messageBytes);
      if (isUnknownSession(sent.status, text)) {
        await this.#session.revive(session).catch((error) => this.#unrevived(toFault(error)));
        // The new session has not asked what this answers.
        if (!("method" in message)) return;
        // The server does not know the session, so it has not run this.
        sent = await send();
      } else sent = alreadyRead(sent, text);
    }
    if (begins && sent.status === 200) open.session = this.#session.id = sent.header("mcp-session-id");
    if (request === undefined) return this.#posted(open, sent);
    await this.#answer(request.id, sent, open);
  }

  /** A server of another era needs another connection. Its open calls may have run. */
  #unrevived(fault: Fault): never {
    const closed = isOtherEra(fault) ? new Fault("unavailable", fault.message, { cause: fault, data: { reason: "closed" } }) : undefined;
    if (closed !== undefined) this.lost(closed);
    throw closed ?? fault;
  }

  async #posted({ message, cancel }: OpenPost, sent: Sent): Promise<void> {
    // What a server says here is about no request. Some leave a stream open.
    if (sent.status < 300 && mediaType(sent.header("content-type")) === SSE_TYPE) cancel.fire();
    else {
      const text = await sent.text(this.#limits.messageBytes);
      if (sent.status >= 400) throw httpFault(sent.status, text);
    }
    if ("method" in message && message.method === "notifications/initialized") void this.#session.listen();
  }

  async #answer(id: Id, sent: Sent, open: OpenPost): Promise<void> {
    const type = mediaType(sent.header("content-type"));
    if (sent.status === 200 && type === SSE_TYPE) return this.#events(id, sent, open);
    if (sent.status === 200 && type === PARTS_TYPE) return this.#parts(id, sent, open);
    const text = await this.#body(id, sent, open, type);
    if (typeof text !== "string") return this.#deliver([text]);
    // Whatever the body says: a refused caller must not look like an unknown method.
    if (sent.status === 401) throw httpFault(sent.status, text);
    const message = type === JSON_TYPE && text !== "" ? parseMessage(text, { depth: this.#limits.depth }) : undefined;
    if (message?.kind === "error" && isRefusal(sent.status))
      return this.#deliver([{ kind: "bad", answers: id, failed: true, fault: refusalFault(sent.status, message.error) }]);
    if (message === undefined || message.kind === "bad")
      throw sent.status >= 300 ? httpFault(sent.status, text, sent.header("location")) : noMessage(sent.status, type);
    await this.#deliver([answerTo(id, message, sent.status)]);
  }

  async #parts(id: Id, sent: Sent, open: OpenPost): Promise<void> {
    const reader = partsReader({ id, maxBytes: this.#limits.messageBytes, depth: this.#limits.depth });
    const together = Math.min(PARTS_BYTES, this.#limits.callBytes / 8);
    let answered = false;
    let empty = 0;
    for await (const chunk of sent.body) {
      const messages = reader.push(chunk);
      // What came with it goes with it, but never so much that its reader seems to be slow.
      for (let bytes = chunk.length; bytes < together; ) {
        const more = sent.take?.();
        if (more === undefined) break;
        bytes += more.length;
        messages.push(...reader.push(more));
      }
      answered ||= messages.some((message) => (message.kind === "result" || message.kind === "error") && message.id === id);
      if (reader.empty > empty) sent.beat();
      empty = reader.empty;
      for (const message of messages) this.#session.heard(message);
      if (messages.length > 0) await this.#inbox.write(messages);
      if (open.held) await caughtUp(open);
    }
    if (!answered) throw new Fault("unavailable", "the server closed the stream before its answer", { data: { reason: "closed" } });
  }

  /** The text of an answer. For a large read it is only the result; the rest was already delivered. */
  #body(id: Id, sent: Sent, open: OpenPost, type: string | undefined): Promise<string | IncomingResult> {
    if (open.request?.method !== "resources/read" || sent.status !== 200 || type !== JSON_TYPE) return sent.text(this.#limits.messageBytes);
    return readLarge(sent, { id, limits: this.#limits, open, take: async (parts) => void (await this.#inbox.write(parts)) });
  }

  async #deliver(messages: readonly Incoming[]): Promise<void> {
    const [first] = messages;
    const noted = first !== undefined && messages.length === 1 ? this.#noted(first) : messages.flatMap((message) => this.#noted(message));
    await this.#inbox.write("kind" in noted ? [noted] : noted);
  }

  /** The messages that the caller gets for a message. */
  #noted(message: Incoming): Incoming | readonly Incoming[] {
    this.#session.heard(message);
    if (message.kind === "notification" && message.method === "notifications/subscriptions/acknowledged") {
      const { call } = message;
      const open = call === undefined ? undefined : this.#open.get(call);
      if (call !== undefined && open?.accepted === true) return newsOfListen(call, message.params);
      if (open !== undefined) open.accepted = true;
    }
    const request = message.kind === "result" ? this.#open.get(message.id)?.request : undefined;
    if (message.kind !== "result" || request === undefined) return message;
    this.#session.granted(request, message.value);
    if (request.method !== "tools/list" || this.#legacy) return message;
    return withoutWrongTools(message, this.#tools, (fault) => this.#options.onFault?.(fault));
  }

  /** Reads the events of a call's stream. If it breaks before the response, resumes after the last event where that is possible. */
  async #events(id: Id, first: Sent, open: OpenPost): Promise<void> {
    open.streams = true;
    let sent: Sent | undefined = first;
    let last: string | undefined;
    let retry: number | undefined;
    for (let tries = 0; ; ) {
      const seen = { last, answered: false, retry };
      let lost: Fault | undefined;
      let ending: ReturnType<typeof setTimeout> | undefined;
      try {
        sent ??= await this.#resume(last as string, open.cancel);
        await readEvents(sent, {
          limits: this.#limits,
          seen,
          call: id,
          open,
          take: (messages) => {
            seen.answered ||= messages.some((message) => (message.kind === "result" || message.kind === "error") && message.id === id);
            if (seen.answered) ending ??= setTimeout(() => leave(open), ENDING_MS);
            return this.#deliver(messages);
          },
        });
      } catch (error) {
        // A broken connection is retried. An answer of another kind is final.
        const { code, data } = toFault(error);
        const broken = code === "unavailable" && !(isObject(data) && "status" in data);
        const dead = isObject(data) && data["reason"] === "dead-peer";
        // So is silence on a fresh connection.
        const gone = dead && (sent === undefined || data["asked"] === true);
        if (open.cancel.fired || !broken || gone) throw error;
        if (dead) lost = toFault(error);
      } finally {
        clearTimeout(ending);
      }
      if (seen.answered || open.cancel.fired) return;
      if (seen.last !== last) tries = 0;
      ({ last, retry } = seen);
      sent = undefined;
      const closed = (): Fault =>
        lost ?? new Fault("unavailable", "the server closed the stream before its answer", { data: { reason: "closed" } });
      if (last === undefined || open.session === undefined || ++tries > RESUMES) throw closed();
      await wait(retry ?? retryPause(tries), open.cancel);
      // Another session knows nothing of this call. It might open any other stream.
      if (this.#session.id !== open.session) throw closed();
    }
  }

  async #resume(last: string, cancel: Cancel): Promise<Sent> {
    const sent = await this.#session.get(last, cancel);
    if (sent.status === 200) return sent;
    throw httpFault(sent.status, await sent.text(this.#limits.messageBytes));
  }

  /** Fails one call. */
  #fail(id: Id, fault: Fault): void {
    if (this.#closed !== undefined) return;
    const bad: IncomingBad = { kind: "bad", answers: id, fault, ...(fault.code === "parse" ? undefined : { failed: true }) };
    void this.#inbox.write([bad]);
  }
}

/** An answer whose text was read. */
function alreadyRead(sent: Sent, text: string): Sent {
  return { status: sent.status, header: (name) => sent.header(name), body: sent.body, text: async () => text, beat() {} };
}

/**
 * The body of an answer as the answer to its request. Nothing follows it, so the call must not wait for another message. An error is about
 * this request whatever its id: some servers make one up, such as "server-error".
 */
function answerTo(id: Id, message: Incoming, status: number): Incoming {
  if (message.kind === "error") return { ...message, id };
  const answers = message.kind === "batch" ? message.messages.map(answeredBy) : [answeredBy(message)];
  if (answers.includes(id)) return message;
  throw new Fault("parse", `the server's answer does not answer the request: HTTP ${status}`, { data: { status } });
}

/** The request that a message answers, even if it does so badly. */
function answeredBy(message: Incoming): Id | undefined {
  if (message.kind === "bad") return message.answers;
  return message.kind === "result" || message.kind === "error" ? message.id : undefined;
}

/** Stops waiting for a call's stream. */
function leave(open: OpenPost | undefined): void {
  if (open === undefined) return;
  open.held = false;
  open.cancel.fire();
  open.wake?.();
}
