import { hasRoom, type Id, type Incoming, isBatch, namedCall, type Outgoing, type OutgoingMessage, serialise } from "../../codec/index.js";
import {
  Account,
  comesBackToStreams,
  defaultTimeouts,
  Fault,
  type Held,
  quotaOwner,
  refusedStatus,
  requestStatuses,
  type Service,
  toRpcError,
} from "../../core/index.js";
import {
  ClientPings,
  idleCaller,
  type LinkTraits,
  randomToken,
  type ServeLinkOptions,
  type Serving,
  serving,
  sharedStream,
  type TableSession,
} from "../../era/index.js";
import { type Exchange, noHeaders } from "../../io/index.js";
import { Registry } from "../../stream/index.js";
import { type HttpAnswer, postAnswer, sseHeaders } from "./answer.js";
import { statusOf } from "./checks.js";
import { type EventStore, parseEventId } from "./events.js";
import { JSON_TYPE } from "./media-types.js";
import { EventStream } from "./stream.js";

export interface HttpSessionOptions extends ServeLinkOptions {
  readonly id: string;
  readonly events: EventStore;
  readonly awayMs?: number | undefined;
  /** Milliseconds after which the connection of a call's stream is closed. */
  readonly pollMs?: number | undefined;
  /** Milliseconds of silence after which the client is pinged. */
  readonly pingMs?: number | undefined;
  /** Ends the session because another needs its place. */
  readonly displace: (reason: Fault) => void;
  /** Called when its first answer, the one to `initialize`, was an error, or when the client did not wait for it. */
  readonly onRefused?: () => void;
}

/** What a stream counts in addition to its events. */
const STREAM_BYTES = 1024;
/** Ended streams of a session that a client may still come back to. */
const KEPT_STREAMS = 32;

/** The destination of the answer to a POST. */
export interface Answering {
  readonly exchange: Exchange;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the client accepts parts. */
  readonly parts: boolean;
}

/**
 * The requests of one POST, several for a batch. Their answer has not begun; or it has become a stream, with or without a connection; or it
 * is a read that is written in parts, which cannot be resumed.
 */
interface Post {
  ids: readonly Id[];
  readonly batch: boolean;
  to: Answering | EventStream | { readonly direct: HttpAnswer };
  unhook: () => void;
}

/**
 * A legacy session over HTTP: requests come by POST, and each is answered on its own stream. Everything else goes to the stream of the GET.
 */
export class HttpSession implements TableSession {
  readonly id: string;
  readonly principal: string | undefined;
  touched: number = Date.now();
  /** Whether an `initialize` has succeeded. */
  established = false;
  readonly #serving: Serving;
  readonly #options: HttpSessionOptions;
  /** Headers of its answers if there is nothing to add, and of a JSON answer. */
  readonly #headers: Readonly<Record<string, string>>;
  readonly #jsonHeaders: Readonly<Record<string, string>>;
  readonly #prefix = randomToken();
  /** The owner that its data counts for. */
  readonly #owner: string;
  /** Counts its streams. */
  readonly #held: Held;
  readonly #posts = new Registry<Post>();
  readonly #streams = new Map<string, EventStream>();
  readonly #general: EventStream;
  readonly #pings: ClientPings;
  readonly #traits: LinkTraits = {
    ownStream: () => true,
    inParts: (method, call) => method === "resources/read" && call !== undefined && this.#direct(call.id) !== undefined,
    bytes: false,
  };
  #count = 0;
  /** The POST whose message is being taken. A response without an id meanwhile is its answer. */
  #taking: Post | undefined;
  #turn: Promise<void> | undefined;
  /** Whether it had a stream of its own, and has received no message since that closed. */
  #streamed = false;
  #closed = false;

  constructor(service: Service, options: HttpSessionOptions) {
    this.id = options.id;
    this.principal = options.principal;
    this.#options = options;
    this.#headers = { "mcp-session-id": this.id };
    this.#jsonHeaders = { "mcp-session-id": this.id, "content-type": JSON_TYPE };
    this.#owner = quotaOwner(options);
    const account = new Account(options.limits, options.remote);
    this.#held = account.hold(options.principal);
    this.#general = this.#open({});
    this.#pings = new ClientPings(options.pingMs);
    this.#serving = serving(
      service,
      {
        ...sharedStream,
        traits: this.#traits,
        backlog: 0,
        send: (message, options) => this.#send(message, options?.call),
        part: (call, part) => this.#direct(call)?.part(call, part),
      },
      { ...options, account, eras: ["legacy"], idle: idleCaller(this, options.displace) },
    );
  }

  /** Whether a connection is open for it. */
  get connected(): boolean {
    for (const { to } of this.#posts.values()) if (!(to instanceof EventStream)) return true;
    for (const stream of this.#streams.values()) if (stream.attached) return true;
    return false;
  }

  /** Headers of an answer, with the session id. */
  headersWith(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return headers === noHeaders ? this.#headers : { ...headers, "mcp-session-id": this.id };
  }

  /** Takes messages in turn. If there are requests among them, their answer goes to `answering`. */
  async take(message: Incoming, answering?: Answering): Promise<void> {
    this.touched = Date.now();
    this.#streamed &&= this.#general.attached;
    if (this.#pings.heard(message)) return;
    const post = answering === undefined ? undefined : this.#register(message, answering);
    if (answering !== undefined && post === undefined) return;
    while (this.#turn !== undefined) await this.#turn;
    // The session may have ended meanwhile. Whoever waits for an answer was told.
    if (this.#closed) return;
    this.#taking = post;
    const turn = this.#serving.take(message);
    this.#taking = undefined;
    for (const each of message.kind === "batch" ? message.messages : [message])
      if (each.kind === "notification" && each.method === "notifications/cancelled") this.#cancelled(namedCall(each.params));
    if (turn === undefined) return;
    this.#turn = turn.finally(() => {
      this.#turn = undefined;
    });
    await this.#turn;
  }

  /** Opens the stream for messages outside any call; false if one is open. */
  listen(exchange: Exchange, headers: Readonly<Record<string, string>>): boolean {
    this.touched = Date.now();
    this.#pings.seen();
    if (this.#general.attached) return false;
    this.#general.attach(exchange, headers);
    this.#streamed = true;
    return true;
  }

  /** Resumes a stream after an event; false if the event is not from this session, or no longer kept. */
  async resume(exchange: Exchange, headers: Readonly<Record<string, string>>, last: string): Promise<boolean> {
    this.touched = Date.now();
    this.#pings.seen();
    const stream = this.#streams.get(parseEventId(last)?.stream ?? "");
    if (stream === undefined || (await this.#options.events.after(last)) === undefined || this.#closed) return false;
    stream.attach(exchange, headers, { from: last, lifeMs: stream === this.#general ? undefined : this.#options.pollMs });
    return true;
  }

  keepAlive(): void {
    for (const post of new Set(this.#posts.values())) {
      if ("exchange" in post.to) this.#begin(post, post.to);
      else if ("direct" in post.to) post.to.direct.keepAlive();
    }
    const ping = this.#general.quiet ? this.#pings.due() : undefined;
    if (ping instanceof Fault) {
      this.#options.onFault?.(ping);
      for (const stream of this.#streams.values()) stream.cut();
      return;
    }
    for (const stream of this.#streams.values()) stream.keepAlive(stream === this.#general ? ping : undefined);
  }

  /** Whether calls are being answered. */
  get busy(): boolean {
    return this.#posts.size > 0;
  }

  get idleSince(): number | undefined {
    return this.busy || this.#serving.asking || this.connected ? undefined : this.touched;
  }

  get left(): boolean {
    return this.#streamed && this.idleSince !== undefined;
  }

  drain(reason: Fault, ms: number): Promise<void> {
    return this.#serving.drain(reason, ms);
  }

  end(reason: Fault): void {
    this.#closed = true;
    this.#serving.end(reason);
    for (const { to, unhook } of new Set(this.#posts.values())) {
      unhook();
      if ("direct" in to) to.direct.abort();
      else if ("exchange" in to) to.exchange.reply(requestStatuses["a session that is unknown, ended or another's"], to.headers);
    }
    this.#posts.clear();
    for (const stream of this.#streams.values()) {
      stream.close();
      this.#options.events.drop(stream.name);
    }
    this.#streams.clear();
    this.#held.free();
  }

  readonly #detached = (): void => {
    this.touched = Date.now();
  };

  #open(options: { readonly awayMs?: number }): EventStream {
    const { events, onFault = () => {} } = this.#options;
    const stream = new EventStream(`${this.#prefix}-${this.#count++}`, {
      store: events,
      owner: this.#owner,
      onFault,
      onDetached: this.#detached,
      ...options,
    });
    this.#streams.set(stream.name, stream);
    this.#held.set(STREAM_BYTES * this.#streams.size);
    return stream;
  }

  #register(message: Incoming, answering: Answering): Post | undefined {
    const ids: Id[] = [];
    let open: Id | undefined;
    for (const each of message.kind === "batch" ? message.messages : [message]) {
      if (each.kind !== "request") continue;
      ids.push(each.id);
      if (this.#posts.has(each.id)) open ??= each.id;
    }
    if (open !== undefined) {
      const fault = new Fault("invalid-request", `a request with the id ${JSON.stringify(open)} is still open`);
      const id = message.kind === "batch" ? null : open;
      this.#reply(answering, { jsonrpc: "2.0", id, error: toRpcError(fault, "legacy") }, refusedStatus(fault, "legacy"));
      return undefined;
    }
    const post: Post = { ids, batch: message.kind === "batch", to: answering, unhook: () => {} };
    for (const id of ids) this.#posts.set(id, post);
    // The client disconnected before its answer began. A legacy call goes on, and its answer is kept.
    post.unhook = answering.exchange.onGone(() => {
      if (this.#closed || post.to !== answering || post.ids.length === 0) return;
      // A client that was not told the id of its session cannot come back to it.
      if (!this.established) return this.#options.onRefused?.();
      post.to = this.#open({ awayMs: this.#options.awayMs ?? defaultTimeouts.awayMs });
    });
    if (answering.parts && message.kind === "request") this.#direct(message.id);
    else if (this.#options.pollMs !== undefined && comesBack(answering.exchange)) this.#begin(post, answering);
    return post;
  }

  #reply({ exchange, headers }: Answering, message: Outgoing, status = 200): void {
    if (this.established && headers === this.#headers) return exchange.reply(status, this.#jsonHeaders, serialise(message));
    const { "mcp-session-id": id, ...others } = headers;
    const failed = !this.established && !Array.isArray(message) && "error" in message;
    exchange.reply(status, { ...(failed ? others : headers), "content-type": JSON_TYPE }, serialise(message));
  }

  #send(message: Outgoing, call?: Id): Promise<void> {
    if (this.#closed) return Promise.reject(new Fault("unavailable", "the session has ended", { data: { reason: "closed" } }));
    if (isBatch(message)) return this.#respond(message, message);
    const single = message;
    if (!("method" in single)) return this.#respond([single], single);
    const post = call === undefined ? undefined : this.#posts.get(call);
    const to = post?.to;
    if (to !== undefined && "direct" in to && to.direct.mixed) return to.direct.send(single, false);
    // Beside an answer in parts there is no place for the call's other messages, so only questions are sent elsewhere.
    if (to !== undefined && "direct" in to && !("id" in single)) return hasRoom;
    const stream =
      to instanceof EventStream ? to : post !== undefined && to !== undefined && "exchange" in to ? this.#begin(post, to) : this.#general;
    return stream.send(serialise(single), false);
  }

  /**
   * The answer to a read that is written in parts from now on. Undefined if it has become a stream: its events are kept, so they must be
   * whole.
   */
  #direct(call: Id): HttpAnswer | undefined {
    const post = this.#posts.get(call);
    if (post === undefined || post.batch || post.to instanceof EventStream) return undefined;
    if ("direct" in post.to) return post.to.direct;
    const { exchange, headers, parts } = post.to;
    post.unhook();
    post.to = { direct: postAnswer(exchange, { streams: false, json: true, parts, headers, status: () => 200 }) };
    // The client cannot come back for the rest.
    post.unhook = exchange.onGone(() => this.#left(call));
    return post.to.direct;
  }

  #left(call: Id): void {
    this.#posts.delete(call);
    const params = { requestId: call, reason: "the client closed the connection" };
    void this.#serving.take({ kind: "notification", method: "notifications/cancelled", params });
  }

  /** Turns the answer of a call into a stream. */
  #begin(post: Post, { exchange, headers }: Answering): EventStream {
    post.unhook();
    const stream = this.#open({ awayMs: this.#options.awayMs ?? defaultTimeouts.awayMs });
    post.to = stream;
    const back = comesBack(exchange);
    stream.attach(exchange, headers, { lifeMs: back ? this.#options.pollMs : undefined });
    if (back) stream.prime();
    return stream;
  }

  #respond(messages: readonly OutgoingMessage[], whole: Outgoing): Promise<void> {
    let post: Post | undefined;
    for (const each of messages) if ("id" in each && each.id !== null) post ??= this.#posts.get(each.id);
    post ??= this.#taking;
    if (post === undefined) return hasRoom;
    this.established ||= !Array.isArray(whole) && "result" in whole;
    for (const id of post.ids) this.#posts.delete(id);
    post.unhook();
    const { to } = post;
    // The stream has ended only when the last event is kept.
    if (to instanceof EventStream) return to.send(serialise(whole), true).finally(() => this.#forgetOldest());
    if ("direct" in to) return to.direct.send(whole, true);
    this.#reply(to, whole, statusOf(whole, "legacy"));
    if (!this.established && !Array.isArray(whole)) this.#options.onRefused?.();
    return hasRoom;
  }

  /** A cancelled call is not answered, so its answer ends. */
  #cancelled(id: Id | undefined): void {
    const post = id === undefined ? undefined : this.#posts.get(id);
    if (id === undefined || post === undefined) return;
    this.#posts.delete(id);
    post.ids = post.ids.filter((each) => each !== id);
    // The other requests of a batch are still answered.
    if (post.ids.length > 0) return;
    post.unhook();
    if ("direct" in post.to) return post.to.direct.abort();
    if ("exchange" in post.to) return post.to.exchange.stream(200, { ...post.to.headers, ...sseHeaders }).end();
    post.to.close();
    this.#forget(post.to);
  }

  #forgetOldest(): void {
    const ended = [...this.#streams.values()].filter((stream) => stream.ended && !stream.attached);
    for (const stream of ended.slice(0, Math.max(0, ended.length - KEPT_STREAMS))) {
      this.#forget(stream);
    }
  }

  #forget(stream: EventStream): void {
    this.#streams.delete(stream.name);
    this.#options.events.drop(stream.name);
    this.#held.set(STREAM_BYTES * this.#streams.size);
  }
}

function comesBack(exchange: Exchange): boolean {
  return comesBackToStreams(exchange.header("mcp-protocol-version"));
}
