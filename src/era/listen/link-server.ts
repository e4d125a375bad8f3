import type {
  Id,
  Incoming,
  IncomingBad,
  IncomingBatch,
  IncomingNotification,
  IncomingRequest,
  Outgoing,
  OutgoingMessage,
} from "../../codec/index.js";
import {
  AMBIENT,
  Canceller,
  type Client,
  type Context,
  defaultLimits,
  type Era,
  Fault,
  type JsonObject,
  type Limits,
  legacyMethods,
  legacyVersions,
  modernVersions,
  RELEASE,
  type Service,
  toFault,
  toRpcError,
} from "../../core/index.js";
import { careful } from "../careful.js";
import { type Envelope, modernClient, openEnvelope, senderOf } from "../envelope.js";
import { withExtensions } from "../extensions.js";
import { own } from "../keys.js";
import type { Link } from "../link.js";
import { randomToken } from "../seal.js";
import { together } from "./batch.js";
import { Calls, type Respond } from "./calls.js";
import type { Desk, WritePart } from "./desk.js";
import { assumedSession, type LegacySession, legacySession, type SessionOptions } from "./legacy-session.js";
import { OPENING_MESSAGES, Opening } from "./opening.js";
import type { ServeLinkOptions } from "./options.js";
import { Parking } from "./parking.js";
import { onlyModern, refuse, unopened } from "./refusals.js";

/** Bytes of a page's items, beside their number: below what common peers take as one message. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Where answers go. */
export interface Outlet extends Pick<Link, "send" | "backlog" | "octets" | "part"> {
  /**
   * Begins to write the answer to a read that knows no ranges, contents and chunks as they come; what is sent for that call next
   * is the rest of its result, or the error that it ends with. Undefined where it cannot be written so: then it comes whole.
   */
  large?(call: Id): WritePart | undefined;
}

/** The serving side of a link, for a wire that feeds it by itself. */
export interface Serving {
  /** Takes one message. Calls run by themselves; what is returned is to be waited for before the next message. */
  take(message: Incoming): Promise<void> | undefined;
  /** Resolves when everything is answered, or after `ms`. */
  idle(ms: number): Promise<void>;
  /** Ends every call, and what is parked for this link alone. */
  end(reason: Fault): void;
}

const EITHER: readonly Era[] = ["legacy", "modern"];
const ALL = versionsOf(EITHER);

function versionsOf(eras: readonly Era[]): readonly string[] {
  return [...(eras.includes("modern") ? modernVersions : []), ...(eras.includes("legacy") ? legacyVersions : [])];
}

/** The serving side of a link: which message is a call, of which era, and whose. */
export class LinkServer implements Desk, Serving {
  readonly service: Service;
  readonly limits: Limits;
  readonly pageSize: Desk["pageSize"];
  readonly octets: boolean;
  readonly parking: Parking;
  readonly part: Desk["part"];
  readonly #link: Outlet;
  readonly #options: ServeLinkOptions;
  readonly #eras: readonly Era[];
  readonly #key: string;
  readonly #metadata: Context["metadata"];
  readonly #fault: (fault: Fault) => void;
  readonly #calls: Calls;
  #session: LegacySession | undefined;
  /** Nobody has begun the session: whoever does may. */
  #assumed: boolean;
  #opening: Opening | undefined;
  /** Settles when the client has read on, where it had left more unread than it may. */
  #room: Promise<void> | undefined;

  constructor(service: Service, link: Outlet, options: ServeLinkOptions) {
    this.service = service;
    this.#link = link;
    this.octets = link.octets === true;
    this.part = link.part === undefined ? undefined : (call, part) => link.part?.(call, part);
    this.#options = options;
    this.#eras = options.eras ?? EITHER;
    this.#key = options.key ?? randomToken();
    this.#metadata = options.metadata ?? {};
    this.#fault = careful(options.onFault);
    this.limits = { ...defaultLimits, ...options.limits };
    this.pageSize = { items: options.pageSize ?? 1024, bytes: PAGE_BYTES };
    this.parking = options.parking ?? new Parking(service, this.limits);
    this.#calls = new Calls(this, this.parking.info, {
      metadata: this.#metadata,
      versions: options.eras === undefined ? ALL : versionsOf(options.eras),
      deadline: options.deadline,
      endless: options.endless,
    });
    this.#assumed = options.assume !== undefined;
    if (options.assume !== undefined) this.#session = assumedSession(this, options.assume, this.#identity);
  }

  send(message: Outgoing, call?: Id): Promise<void> {
    const sent = this.#link.send(message, call);
    if (this.#full) this.#room = sent.catch(() => {});
    return sent;
  }

  large(call: Id): WritePart | undefined {
    return this.#link.large?.(call);
  }

  get #full(): boolean {
    return this.#link.backlog > this.limits.backlogBytes;
  }

  /** Takes one message. Calls run by themselves; what is returned is to be waited for before the next message. */
  take(message: Incoming): Promise<void> | undefined {
    return this.#opening !== undefined && this.#waits(message) ? this.#later(message, this.#opening) : this.#take(message);
  }

  #take(message: Incoming): Promise<void> | undefined {
    switch (message.kind) {
      case "request":
        // A client that does not read is not served on: its answer would only join the others that wait for it.
        return this.#full && this.#room !== undefined
          ? this.#room.then(() => this.#request(message, this.#respond))
          : this.#request(message, this.#respond);
      case "notification":
        return this.#notification(message);
      case "batch":
        return this.#batch(message);
      case "bad":
        return this.#bad(message, this.#respond);
      default:
        if (this.#session?.asks.settle(message) !== true)
          this.#fault(new Fault("invalid-request", `a response to no open request: id ${JSON.stringify(message.id ?? null)}`));
        return undefined;
    }
  }

  /** A client that broke a rule of the link may still read why it is left. */
  async lastWords(fault: Fault): Promise<void> {
    if (fault.code !== "unavailable") await this.#respond({ jsonrpc: "2.0", id: null, error: toRpcError(fault, this.#era) });
  }

  /** Resolves when everything is answered, or after `ms`. */
  idle(ms: number): Promise<void> {
    return this.#calls.idle(ms);
  }

  /** Ends every call and everything parked. */
  end(reason: Fault): void {
    this.#opening?.end(reason);
    this.#calls.end(reason);
    this.#session?.close(reason);
    if (this.#options.parking === undefined) this.parking.clear();
  }

  /** The era to speak where a message does not say. */
  get #era(): Era {
    return this.#session === undefined ? "modern" : "legacy";
  }

  readonly #respond: Respond = (message) =>
    message === undefined ? Promise.resolve() : this.send(message).catch((error) => this.#unsent(message, error));

  /** A response that cannot be written as it is becomes an error: the caller is never left without an answer. */
  async #unsent(message: OutgoingMessage, error: unknown): Promise<void> {
    const fault = toFault(error);
    if (fault.code === "unavailable" || !("id" in message) || "error" in message) return;
    await this.send({ jsonrpc: "2.0", id: message.id, error: toRpcError(fault, this.#era) }).catch(() => {});
  }

  #request(message: IncomingRequest, respond: Respond): Promise<void> | undefined {
    const { id, method } = message;
    const envelope = openEnvelope(method, message.params);
    const era = this.#eraOf(envelope);
    if (method === AMBIENT) return refuse(id, new Fault("unknown-method", `unknown method: ${method}`), era, respond);
    if (this.#calls.has(id))
      return refuse(id, new Fault("invalid-request", `a request with the id ${JSON.stringify(id)} is still open`), era, respond);
    if (this.#calls.open >= this.limits.inFlight) {
      const data = { limit: "inFlight", max: this.limits.inFlight };
      return refuse(id, new Fault("overload", "too many calls at a time", { data }), era, respond);
    }
    if (era === "legacy") return this.#legacyRequest(id, envelope, respond);
    const client = modernClient(envelope, this.#key);
    if (client instanceof Fault) return refuse(id, client, era, respond);
    if (legacyMethods.has(method)) return refuse(id, new Fault("unknown-method", `unknown method: ${method}`), era, respond);
    this.#calls.start({ id, envelope, client: this.#withPrincipal(client), logLevel: envelope.logLevel, asks: undefined, respond });
    return undefined;
  }

  #legacyRequest(id: Id, envelope: Envelope, respond: Respond): Promise<void> | undefined {
    const { method, params } = envelope.request;
    const session = this.#session;
    if (!this.#eras.includes("legacy")) return refuse(id, onlyModern(method, params), "modern", respond);
    if (method === "ping") return respond({ jsonrpc: "2.0", id, result: {} });
    if (method === "initialize") return this.#initialize(id, envelope, respond);
    if (session === undefined) return refuse(id, unopened(method, this.#eras), "legacy", respond);
    if (!session.ready) {
      const fault = new Fault("invalid-request", "the session is not initialised: send notifications/initialized first");
      return refuse(id, fault, "legacy", respond);
    }
    const answering = session.request(envelope.request);
    if (answering === undefined)
      this.#calls.start({ id, envelope, client: session.client, logLevel: session.level, asks: session.asks, respond });
    else
      this.#calls.hold(
        answering.then(
          (result) => respond({ jsonrpc: "2.0", id, result }),
          (error) => refuse(id, toFault(error), "legacy", respond),
        ),
      );
    return undefined;
  }

  #initialize(id: Id, envelope: Envelope, respond: Respond): Promise<void> | undefined {
    if (this.#session !== undefined && !this.#assumed)
      return refuse(id, new Fault("invalid-request", "the session is already initialised"), "legacy", respond);
    this.#opening = new Opening(this.limits.callBytes);
    this.#calls.hold(this.#open(this.#opening, id, envelope, respond));
    return undefined;
  }

  async #open(opening: Opening, id: Id, envelope: Envelope, respond: Respond): Promise<void> {
    try {
      const { session, result } = await legacySession(this, envelope.request, { ...this.#identity, cancel: opening.cancel });
      this.#session?.close(new Fault("unavailable", "the session was begun anew"));
      this.#session = session;
      this.#assumed = false;
      await respond({ jsonrpc: "2.0", id, result: withExtensions(result) });
    } catch (error) {
      await refuse(id, toFault(error), "legacy", respond);
    }
    // Before anything that comes from now on; one of them may open a session anew.
    for (let message = opening.next(); message !== undefined; message = opening.next())
      await (this.#opening === opening ? this.#take(message) : this.take(message));
    if (this.#opening === opening) this.#opening = undefined;
  }

  /** Whether a message is to wait for the session that is being opened. */
  #waits(message: Incoming): boolean {
    switch (message.kind) {
      case "request":
        return message.method !== "ping" && this.#eraOf(openEnvelope(message.method, message.params)) === "legacy";
      case "notification":
        return !this.#calls.has(message.params["requestId"] as Id);
      default:
        return message.kind === "batch";
    }
  }

  #later(message: Incoming, opening: Opening): Promise<void> | undefined {
    if (opening.put(message)) return undefined;
    const fault = new Fault("overload", "too much was sent before the session was open", {
      data: { limit: "opening", max: OPENING_MESSAGES },
    });
    if (message.kind === "request") return refuse(message.id, fault, "legacy", this.#respond);
    this.#fault(fault);
    return undefined;
  }

  #eraOf(envelope: Envelope): Era {
    return envelope.version !== undefined && this.#eras.includes("modern") ? "modern" : "legacy";
  }

  get #identity(): Omit<SessionOptions, "cancel"> {
    const { principal } = this.#options;
    return { key: this.#key, metadata: this.#metadata, onFault: this.#fault, ...(principal === undefined ? undefined : { principal }) };
  }

  #withPrincipal(client: Client): Client {
    return this.#options.principal === undefined ? client : { ...client, principal: this.#options.principal };
  }

  #notification({ method, params }: IncomingNotification): Promise<void> | undefined {
    switch (method) {
      case "notifications/cancelled": {
        const reason = typeof params["reason"] === "string" ? params["reason"] : "the client cancelled the call";
        if (!this.#calls.cancel(params["requestId"] as Id, new Fault("cancelled", reason)))
          this.#fault(new Fault("invalid-request", `a cancellation of no open call: id ${JSON.stringify(params["requestId"])}`));
        return undefined;
      }
      case own.credit:
        this.#calls.grant(params["requestId"] as Id, Number(params["messages"]) || 0);
        return undefined;
      case RELEASE:
        void this.#release(params);
        return undefined;
      case "notifications/progress":
        this.#session?.asks.progress(params);
        return undefined;
      case "notifications/initialized":
        this.#session?.start();
        return undefined;
      default:
        // Waited for, so that a client cannot flood a service that does not take them.
        return this.#passOn(method, params);
    }
  }

  async #release(params: JsonObject): Promise<void> {
    const further = await this.parking.release(params, this.#options.principal);
    if (further !== undefined) await this.#passOn(RELEASE, further);
  }

  async #passOn(method: string, params: JsonObject): Promise<void> {
    const envelope = openEnvelope(method, params);
    const client = this.#withPrincipal(senderOf(envelope, this.#session?.client, this.#key));
    const context: Context = { client, cancel: new Canceller(), progress: false, metadata: this.#metadata };
    try {
      await this.service.notify(envelope.request, context);
    } catch (error) {
      this.#fault(toFault(error));
    }
  }

  /** Tells the sender what is wrong, unless it surely waits for no answer; an ask that this was to answer ends with it. */
  #bad({ id, answers, silent, fault }: IncomingBad, respond: Respond): Promise<void> | undefined {
    this.#fault(fault);
    const spoiled = answers !== undefined && (this.#session?.asks.spoil(answers, fault) === true || id === undefined);
    if (spoiled || silent === true) return respond(undefined);
    return respond({ jsonrpc: "2.0", id: id ?? null, error: toRpcError(fault, this.#era) });
  }

  /** Only 2025-03-26 has batches: the answers go back together, when the last is there. */
  #batch({ messages }: IncomingBatch): Promise<void> | undefined {
    if (this.#session?.client.protocolVersion !== "2025-03-26") {
      const fault = new Fault("invalid-request", "batches are part of protocol version 2025-03-26 only");
      return this.#respond({ jsonrpc: "2.0", id: null, error: toRpcError(fault, "legacy") });
    }
    const answered = messages.filter((message) => message.kind === "request" || message.kind === "bad").length;
    const respond = together(answered, (answers) =>
      // One answer that cannot be written must not take the others with it.
      this.send(answers).catch(async () => {
        for (const answer of answers) await this.#respond(answer);
      }),
    );
    for (const message of messages) {
      if (message.kind === "request") void this.#request(message, respond);
      else if (message.kind === "bad") void this.#bad(message, respond);
      else void this.take(message);
    }
    return undefined;
  }
}
