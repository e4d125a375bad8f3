import {
  type AnswerPart,
  hasRoom,
  type Id,
  type Incoming,
  type IncomingBad,
  type IncomingBatch,
  type IncomingRequest,
  type LinkTraits,
  type Outgoing,
  type OutgoingMessage,
  partMessage,
  type SendOptions,
} from "../../codec/index.js";
import {
  Account,
  AMBIENT,
  bothEras,
  Caller,
  type Context,
  defaultPageSize,
  type Era,
  eraOfRequest,
  Fault,
  fixedTimeouts,
  type Held,
  hasBatches,
  type Identity,
  type Limits,
  legacyMethods,
  limitsOf,
  memoryOf,
  type Service,
  toFault,
  toRpcError,
  withoutCredentials,
} from "../../core/index.js";
import { within } from "../../stream/index.js";
import { modernClient, openEnvelope, type RelayedCaller } from "../envelope.js";
import { safeListener } from "../safe-listener.js";
import type { AnswerOptions } from "./answer-options.js";
import { collectBatch } from "./batch.js";
import { Calls, type Respond } from "./calls.js";
import { versionsOf } from "./eras.js";
import { type CallerLease, callerOfOneCall, KnownCallers } from "./known-callers.js";
import { type LegacyHost, LegacyListen } from "./legacy.js";
import { type Notified, takeNotification } from "./notifications.js";
import type { SessionOpening } from "./opening.js";
import type { ServeLinkOptions } from "./options.js";
import { Parking } from "./parking.js";
import { refuse } from "./refusals.js";
import type { AnswerOutlet, Serving } from "./serving.js";
import type { ServingWatch } from "./watched.js";

/** The serving side of a link: decides which message is a call, of which era, and who makes it. */
export class LinkServer implements Serving, LegacyHost, Notified {
  readonly service: Service;
  readonly limits: Limits;
  readonly pageSize: AnswerOptions["pageSize"];
  readonly traits: LinkTraits;
  readonly parking: Parking;
  readonly eras: readonly Era[];
  readonly principal: string | undefined;
  readonly metadata: Context["metadata"];
  readonly onFault: (fault: Fault) => void;
  readonly calls: Calls;
  readonly legacy: LegacyListen;
  readonly watch: ServingWatch | undefined;
  readonly #link: AnswerOutlet;
  /** Whether the link carries parts itself. Otherwise they are sent as notifications. */
  readonly #carries: boolean;
  readonly #options: ServeLinkOptions;
  readonly #account: Account;
  /** The caller that the link itself is, made on first use. */
  #own: CallerLease | undefined;
  #callers: KnownCallers | undefined;
  /** Whether other links use the same parking. */
  readonly #shared: boolean;
  /** Why no new calls are accepted. */
  #closing: Fault | undefined;
  /** Settles when a client that left too much unread has read on. */
  #room: Promise<void> | undefined;

  constructor(service: Service, link: AnswerOutlet, options: ServeLinkOptions, watch?: ServingWatch) {
    this.service = service;
    this.watch = watch;
    this.#link = link;
    this.traits = link.traits;
    this.#carries = link.traits.inParts("resources/read") || link.traits.ownStream("resources/read");
    this.eras = options.eras ?? bothEras;
    this.#options = options;
    this.#callers = options.callers;
    this.principal = options.principal;
    this.metadata = withoutCredentials(options.metadata ?? {});
    this.onFault = safeListener(options.onFault);
    // Some wires make a link for every request, so defaults are not copied for each.
    this.limits = limitsOf(options.limits);
    this.pageSize = options.pageSize === undefined ? defaultPageSize : { ...defaultPageSize, items: options.pageSize };
    this.parking = options.parking ?? new Parking(service, this.limits, options.sealKey);
    this.#shared = options.parking !== undefined;
    this.#account = options.account ?? new Account(options.limits, options.remote);
    this.calls = new Calls(this, this.parking.info, {
      account: this.#account,
      metadata: this.metadata,
      versions: versionsOf(this.eras),
      deadline: options.deadline,
      endless: options.endless,
    });
    this.legacy = new LegacyListen(this, options.assume);
  }

  hold(): Held {
    return this.#account.hold(this.principal);
  }

  send(message: Outgoing, options?: SendOptions): Promise<void> {
    const sent = this.#link.send(message, options);
    if (this.#full) this.#room = sent.catch(() => {});
    return sent;
  }

  part(call: Id, part: AnswerPart): Promise<void> | undefined {
    if (this.#carries) return this.#link.part(call, part);
    return this.send(partMessage(part, { call, bytes: this.traits.bytes }), { call });
  }

  get #full(): boolean {
    return this.#link.backlog > this.limits.backlogBytes;
  }

  take(message: Incoming, waited?: SessionOpening): Promise<void> | undefined {
    return this.legacy.waits(message, waited) ? this.legacy.later(message, this.#respond) : this.#take(message);
  }

  #take(message: Incoming): Promise<void> | undefined {
    switch (message.kind) {
      case "request":
        // A client that does not read is not served further: its answer would only join those that already wait.
        return this.#full && this.#room !== undefined
          ? this.#room.then(() => this.#request(message, this.#respond))
          : this.#request(message, this.#respond);
      case "notification":
        return takeNotification(this, message);
      case "batch":
        return this.#batch(message);
      case "bad":
        return this.#bad(message, this.#respond);
      default:
        if (this.legacy.session?.asks.settle(message) !== true)
          this.onFault(new Fault("invalid-request", `a response to no open request: id ${JSON.stringify(message.id ?? null)}`));
        return undefined;
    }
  }

  /** Tells a client that broke a rule of the link why the link is closed. The client may still read it. */
  async lastWords(fault: Fault): Promise<void> {
    if (fault.code !== "unavailable") await this.#respond({ jsonrpc: "2.0", id: null, error: toRpcError(fault, this.#era) });
  }

  get asking(): boolean {
    return this.legacy.session?.asks.waiting === true;
  }

  idle(ms: number): Promise<void> {
    return this.calls.idle(ms);
  }

  async drain(reason: Fault, ms: number): Promise<void> {
    this.#closing = reason;
    await this.calls.idle(ms);
    const answered = this.calls.fail(reason);
    this.end(reason);
    await within(answered, fixedTimeouts.lastAnswersMs);
  }

  end(reason: Fault): void {
    this.calls.end(reason);
    this.legacy.end(reason);
    if (!this.#shared) this.parking.clear();
    this.watch?.end();
    this.#own?.release();
    if (this.#options.callers === undefined) this.#callers?.close();
  }

  caller(relayed: RelayedCaller | undefined, session?: Identity): CallerLease {
    if (relayed === undefined) {
      this.#own ??= this.#lease();
      return { identity: this.#own.identity, release: () => {} };
    }
    const { principal } = this;
    const { remote } = this.#options;
    if (relayed.key === undefined) return callerOfOneCall({ principal, remote, session });
    this.#callers ??= new KnownCallers();
    return this.#callers.lease(this.#nameOf(relayed.key), { principal, remote, session });
  }

  /** The key of a caller for an observer; undefined for a caller that is known for its call only. */
  #keyOf(relayed: RelayedCaller | undefined): string | undefined {
    if (relayed !== undefined && relayed.key === undefined) return undefined;
    const { identity, release } = this.caller(relayed);
    release();
    return identity.span === "call" ? undefined : identity.key;
  }

  forget(key: unknown): void {
    if (typeof key === "string") this.#callers?.end(this.#nameOf(key));
  }

  /** A relay's key counts only with the principal of the relay, so nobody can claim to be a caller of another principal. */
  #nameOf(key: string): string {
    return JSON.stringify([this.principal ?? null, key]);
  }

  #lease(): CallerLease {
    const { identity, anonymous, principal, remote, idle } = this.#options;
    if (identity === undefined) {
      const made = new Caller({ principal, remote, idle });
      return { identity: made, release: () => made.end() };
    }
    if (identity !== "each") return { identity, release: () => {} };
    if (principal === undefined && anonymous !== "one") return callerOfOneCall({ remote });
    this.#callers ??= new KnownCallers();
    return this.#callers.lease(JSON.stringify([principal ?? null]), { principal });
  }

  /** The era to use for a message that names none. */
  get #era(): Era {
    return this.legacy.session === undefined ? "modern" : "legacy";
  }

  readonly #respond: Respond = (message) => {
    const sent = message === undefined ? hasRoom : this.send(message);
    return message === undefined || sent === hasRoom ? sent : sent.catch((error) => this.#unsent(message, error));
  };

  /** If a response cannot be written, an error is sent instead, so that the caller is never left without an answer. */
  async #unsent(message: OutgoingMessage, error: unknown): Promise<void> {
    const fault = toFault(error);
    if (fault.code === "unavailable" || !("id" in message) || "error" in message) return;
    await this.send({ jsonrpc: "2.0", id: message.id, error: toRpcError(fault, this.#era) }).catch(() => {});
  }

  #request(message: IncomingRequest, answered: Respond): Promise<void> | undefined {
    const { id, method } = message;
    const metadata = message.metadata === undefined ? undefined : withoutCredentials(message.metadata);
    const envelope = openEnvelope(method, message.params);
    const era = eraOfRequest(envelope.version, this.eras);
    const respond = this.watch === undefined ? answered : this.watch.request(message, era, this.#keyOf(envelope.caller), answered);
    if (this.#closing !== undefined) return refuse(id, this.#closing, era, respond);
    // Only an Anywire end that speaks for legacy clients may open an ambient call.
    const relayed = envelope.caller?.version !== undefined;
    if (method === AMBIENT && !relayed) return refuse(id, new Fault("unknown-method", `unknown method: ${method}`), era, respond);
    if (this.calls.has(id))
      return refuse(id, new Fault("invalid-request", `a request with the id ${JSON.stringify(id)} is still open`), era, respond);
    if (this.calls.open >= this.limits.inFlight) {
      const data = { limit: "inFlight", max: this.limits.inFlight };
      return refuse(id, new Fault("overload", "too many calls at a time", { data }), era, respond);
    }
    const long = this.#tooLong(id, envelope.progressToken);
    if (long !== undefined) return refuse(id, long, era, respond);
    const bytes = memoryOf(id) + memoryOf(message.params);
    if (era === "legacy") return this.legacy.request({ id, envelope, respond, metadata, bytes });
    if (legacyMethods.has(method) && !relayed) return refuse(id, new Fault("unknown-method", `unknown method: ${method}`), era, respond);
    const { identity, release } = this.caller(envelope.caller);
    const client = modernClient(envelope, identity);
    if (client instanceof Fault) {
      release();
      return refuse(id, client, era, respond);
    }
    const { logLevel } = envelope;
    this.calls.start({ id, envelope, client, era, logLevel, asks: undefined, neutral: relayed, respond, release, bytes, metadata });
    return undefined;
  }

  #tooLong(...names: readonly unknown[]): Fault | undefined {
    const { idChars } = this.limits;
    for (const name of names)
      if (typeof name === "string" && name.length > idChars)
        return new Fault("overload", "the id or the progress token is too long", { data: { limit: "idChars", max: idChars } });
    return undefined;
  }

  /** Tells the sender what is wrong, unless it certainly expects no answer. If the message was to answer an ask, the ask ends too. */
  #bad({ id, answers, silent, fault }: IncomingBad, respond: Respond): Promise<void> | undefined {
    this.onFault(fault);
    const refused = answers !== undefined && (this.legacy.session?.asks.refuseUnreadable(answers, fault) === true || id === undefined);
    if (refused || silent === true) return respond(undefined);
    return respond({ jsonrpc: "2.0", id: id ?? null, error: toRpcError(fault, this.#era) });
  }

  /** The answers are sent together, when the last one is there. */
  #batch({ messages }: IncomingBatch): Promise<void> | undefined {
    if (!hasBatches(this.legacy.session?.client.protocolVersion)) {
      const fault = new Fault("invalid-request", "batches are part of protocol version 2025-03-26 only");
      return this.#respond({ jsonrpc: "2.0", id: null, error: toRpcError(fault, "legacy") });
    }
    const answered = messages.filter((message) => message.kind === "request" || message.kind === "bad").length;
    const respond = collectBatch(answered, (answers) =>
      // If one answer cannot be written, the others are still sent.
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
