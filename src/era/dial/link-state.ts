import {
  hasRoom,
  type Id,
  type IncomingError,
  type IncomingNotification,
  type IncomingResult,
  isId,
  type Link,
  type LinkMessage,
  namedCall,
  type OutgoingMessage,
  type OutgoingRequest,
  type SendOptions,
} from "../../codec/index.js";
import { AMBIENT, clientInfo, type Fault, fromRpcError, isObject, type JsonObject, meta, newestVersions } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import type { LinkWatch } from "../watch/link-watch.js";
import { isModernServer, orSilence, SILENT } from "./handshake.js";
import { LegacyState } from "./legacy-state.js";
import { otherEra } from "./loss.js";
import { ACKNOWLEDGED, newsOfListen, renewedAs } from "./news.js";

type IncomingAnswer = IncomingResult | IncomingError;

/** Whether a call only listens. Such a call is opened again when its link is lost. Other calls fail, because they may have run. */
export function listens(method: string): boolean {
  return method === "subscriptions/listen" || method === AMBIENT;
}

interface Again {
  readonly method: string;
  readonly resolve: (answer: IncomingAnswer) => void;
  readonly reject: (fault: Fault) => void;
}

/** What is open on a link, and what the next link has to be given if this one is lost. */
export class LinkState {
  readonly #watch: LinkWatch | undefined;
  readonly #onFault: (fault: Fault) => void;
  readonly #legacy = new LegacyState();
  readonly #probeMs: number | undefined;
  /** The request that a modern server was found with. */
  #discover: OutgoingRequest | undefined;
  readonly #calls = new Registry<OutgoingRequest>();
  /** The peer's own requests that wait for an answer. */
  readonly #asked = new Set<Id>();
  /** Subscriptions whose callers have received the acknowledgement. */
  readonly #accepted = new Set<Id>();
  /** Requests that were sent again and wait for their answers. */
  readonly #again = new Map<Id, Again>();
  #count = 0;

  /** `probeMs`: how long a server that comes back may be silent before it is asked in the other era, too. Undefined: its era is given. */
  constructor(watch: LinkWatch | undefined, onFault: (fault: Fault) => void, probeMs: number | undefined) {
    this.#watch = watch;
    this.#onFault = onFault;
    this.#probeMs = probeMs;
  }

  /** Whether a session or a call needs a link although nobody makes a new call. Between two links only listening calls are open. */
  get listening(): boolean {
    return this.#legacy.begun || this.#calls.size > 0;
  }

  /** The method of an open call. */
  methodOf(call: Id): string | undefined {
    return (this.#calls.get(call) ?? this.#again.get(call))?.method;
  }

  send(link: Link, message: OutgoingMessage, options: SendOptions | undefined): Promise<void> {
    if (!("method" in message)) {
      if (message.id !== null) this.#asked.delete(message.id);
      return link.send(message, options);
    }
    if (!("id" in message)) {
      if (message.method === "notifications/cancelled") this.leave(namedCall(message.params));
      return link.send(message, options);
    }
    const { id } = message;
    this.#calls.set(id, message);
    const sent = link.send(message, options);
    if (sent !== hasRoom) sent.catch(() => this.#calls.delete(id));
    return sent;
  }

  /** Called when a call was given up. */
  leave(call: Id | undefined): void {
    if (call === undefined) return;
    this.#calls.delete(call);
    if (this.#accepted.size > 0) this.#accepted.delete(call);
  }

  /** The messages that arrived, without those that are not for the callers. */
  take(batch: readonly LinkMessage[]): readonly LinkMessage[] {
    for (const [at, message] of batch.entries()) {
      const instead = this.#take(message);
      if (instead !== undefined) return [...batch.slice(0, at), ...instead, ...this.take(batch.slice(at + 1))];
    }
    return batch;
  }

  /** The link is lost. Returns what the callers get: each open call fails, and each question is withdrawn. */
  lost(reason: Fault): readonly LinkMessage[] {
    const heard: LinkMessage[] = [...this.#asked].map((requestId) => ({
      kind: "notification",
      method: "notifications/cancelled",
      params: { requestId, reason: reason.message },
    }));
    this.#asked.clear();
    for (const request of this.#calls.values()) {
      const { id, method } = request;
      if (listens(method)) continue;
      this.#calls.delete(id);
      this.#legacy.asked(request);
      heard.push({ kind: "bad", answers: id, failed: true, fault: reason });
    }
    for (const { reject } of this.#again.values()) reject(reason);
    this.#again.clear();
    return heard;
  }

  /** Gives a fresh link the session of the lost one. Resolves with the notifications for the callers. */
  async restore(link: Link): Promise<readonly IncomingNotification[]> {
    if (!this.#legacy.begun) {
      if (this.#discover !== undefined && !(await this.#isModern(link, this.#discover))) throw otherEra("modern");
      return [renewedAs({})];
    }
    const session = { request: (request: OutgoingRequest) => this.#ask(link, request), notify: this.#tell.bind(this, link) };
    return this.#legacy.restore(session, this.#onFault);
  }

  /** Opens the listening calls again. */
  reopen(link: Link): void {
    for (const request of this.#calls.values()) this.#tell(link, request).catch(this.#onFault);
  }

  /** Whether a server that came back is modern, as it was. That it answers shows that the link leads to it. Both requests are open after a silence, and the first success decides. */
  async #isModern(link: Link, discover: OutgoingRequest): Promise<boolean> {
    const answer = this.#ask(link, discover);
    if (this.#probeMs === undefined) return answer.then(() => true);
    const modern = isModernServer(answer.then(resultIn));
    const early = await orSilence(modern, this.#probeMs);
    if (early !== SILENT) return early;
    const params = { protocolVersion: newestVersions.legacy, capabilities: {}, clientInfo: { ...clientInfo } };
    const legacy = this.#ask(link, { jsonrpc: "2.0", id: 0, method: "initialize", params }).then(resultIn);
    return Promise.any([modern, legacy.then(() => false)]).catch(() => modern);
  }

  #ask(link: Link, { method, params }: OutgoingRequest): Promise<IncomingAnswer> {
    const id = `anywire-again-${++this.#count}`;
    return new Promise((resolve, reject) => {
      this.#again.set(id, { method, resolve, reject });
      this.#tell(link, { jsonrpc: "2.0", id, method, ...(params === undefined ? undefined : { params }) }).catch(reject);
    });
  }

  #tell(link: Link, message: OutgoingMessage): Promise<void> {
    this.#watch?.sent(message);
    return link.send(message);
  }

  /** The messages that replace this one; undefined if it stays. */
  #take(message: LinkMessage): readonly LinkMessage[] | undefined {
    switch (message.kind) {
      case "result":
      case "error":
        return message.id === undefined ? undefined : this.#answered(message.id, message);
      case "request":
        this.#asked.add(message.id);
        return undefined;
      case "notification":
        return this.#heard(message);
      case "bad":
        if (message.answers !== undefined) this.leave(message.answers);
        if (message.id !== undefined) this.#asked.add(message.id);
        return undefined;
      case "batch": {
        const taken = this.take(message.messages);
        return taken === message.messages ? undefined : taken;
      }
      default:
        return undefined;
    }
  }

  #answered(id: Id, message: IncomingAnswer): readonly LinkMessage[] | undefined {
    const waiting = this.#again.size === 0 ? undefined : this.#again.get(id);
    if (waiting !== undefined) {
      this.#again.delete(id);
      this.#watch?.received(message);
      waiting.resolve(message);
      return [];
    }
    const request = this.#calls.get(id);
    if (request === undefined) return undefined;
    this.leave(id);
    if (message.kind !== "result") return undefined;
    if (request.method === "server/discover") this.#discover ??= request;
    else this.#legacy.granted(request, message.value);
    return undefined;
  }

  #heard({ method, params }: IncomingNotification): readonly LinkMessage[] | undefined {
    if (method === "notifications/cancelled") {
      const call = namedCall(params);
      if (call !== undefined) this.#asked.delete(call);
      this.leave(call);
    }
    if (method !== ACKNOWLEDGED) return undefined;
    const id = isObject(params["_meta"]) ? params["_meta"][meta.subscriptionId] : undefined;
    if (!isId(id) || !this.#calls.has(id)) return undefined;
    if (this.#accepted.has(id)) return newsOfListen(id, params);
    this.#accepted.add(id);
    return undefined;
  }
}

function resultIn(answer: IncomingAnswer): JsonObject {
  if (answer.kind === "error") throw fromRpcError(answer.error);
  return answer.value;
}
