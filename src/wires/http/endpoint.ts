import { type Id, type Incoming, type IncomingRequest, parseMessage, serialise } from "../../codec/index.js";
import {
  bothEras,
  type CredentialWatch,
  closingFault,
  defaultTimeouts,
  type Era,
  eraOfRefusal,
  eraOfRequest,
  Fault,
  type Limits,
  limitsOf,
  quotaOwner,
  type RequestRefusal,
  refusedStatus,
  requestStatuses,
  type Service,
  statedVersion,
  toFault,
  toRpcError,
  withTrace,
} from "../../core/index.js";
import { observedAs, Parking, SessionTable } from "../../era/index.js";
import { admit, type Exchange, tellRefused, whileValid } from "../../io/index.js";
import { timerMs, unref } from "../../stream/index.js";
import { accepts, checkBody, checkEnvelope, checkVersion, expectsAnswer } from "./checks.js";
import { type EventStore, memoryEvents } from "./events.js";
import { checkHeaders } from "./headers.js";
import { JSON_TYPE, PARTS_TYPE, SSE_TYPE } from "./media-types.js";
import type { HttpOptions } from "./options.js";
import { type ParamCheck, paramCheck } from "./param-check.js";
import { HttpSession } from "./session.js";
import { type AnswerForm, StatelessExchanges } from "./stateless-exchanges.js";

/** The MCP endpoint. It answers exchanges of any host. */
export interface Endpoint {
  /** Answers an exchange; never rejects. */
  handle(exchange: Exchange): Promise<void>;
  /** Refuses new calls, gives those in flight `drainMs` to finish, and ends every session and open answer. */
  close(): Promise<void>;
}

interface AdmittedCaller {
  readonly principal: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: CredentialWatch | undefined;
}

export function httpEndpoint(service: Service, options: HttpOptions = {}): Endpoint {
  return new HttpEndpoint(service, observedAs(options, "listen", "http"));
}

/** Why an exchange is refused before its message is taken, and how to say so. */
interface Refusal {
  /** Replaces the status of the fault. */
  readonly status?: number;
  readonly fault: Fault;
  readonly id: Id | null;
  /** Whether `onFault` was already called with it. */
  readonly told?: true;
}
type Routed = Refusal | undefined;

function refuse(fault: Fault, id: Id | null = null, told?: true): Refusal {
  return { fault, id, ...(told && { told }) };
}

/** Refuses a request whatever its message says. */
function refuseRequest(what: RequestRefusal, message: string): Refusal {
  return { status: requestStatuses[what], fault: new Fault("invalid-request", message), id: null };
}

class HttpEndpoint implements Endpoint {
  readonly #options: HttpOptions;
  readonly #limits: Limits;
  readonly #path: string | undefined;
  readonly #service: Service;
  readonly #sessions: SessionTable<HttpSession>;
  readonly #events: EventStore;
  /** Shared by all exchanges, because the next page or answer comes in another one. */
  readonly #parking: Parking;
  readonly #stateless: StatelessExchanges;
  readonly #params: ParamCheck;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #legacy: boolean;
  readonly #eras: readonly Era[];
  readonly #stateful: boolean;
  #closing: Fault | undefined;
  #closed: Promise<void> | undefined;

  constructor(service: Service, options: HttpOptions) {
    this.#options = options;
    this.#limits = limitsOf(options.limits);
    this.#path = options.path;
    this.#service = service;
    this.#sessions = new SessionTable(options);
    this.#events = options.events ?? memoryEvents();
    this.#params = paramCheck(service);
    this.#parking = new Parking(service, this.#limits, options.sealKey);
    this.#stateless = new StatelessExchanges(service, options, { parking: this.#parking, params: this.#params });
    this.#eras = options.eras ?? bothEras;
    this.#legacy = this.#eras.includes("legacy");
    this.#stateful = this.#legacy && options.stateless !== true && options.jsonOnly !== true;
    this.#timer = setInterval(() => this.#keepAlive(), timerMs(options.keepAliveMs ?? defaultTimeouts.keepAliveMs));
    unref(this.#timer);
  }

  async handle(exchange: Exchange): Promise<void> {
    let headers: Readonly<Record<string, string>> = {};
    let refusal: Routed;
    try {
      const admission = await admit(exchange, this.#options, this.#path ?? exchange.path);
      headers = admission.headers;
      if (!("status" in admission)) refusal = this.#tell(await this.#route(exchange, admission));
      else if (admission.fault !== undefined) refusal = refuse(admission.fault);
      else exchange.reply(admission.status, headers, admission.text);
    } catch (error) {
      refusal = this.#tell(refuse(toFault(error)));
    }
    if (refusal === undefined) return;
    const { fault, id } = refusal;
    const era = eraOfRefusal(this.#eras, exchange.header("mcp-protocol-version"));
    const { status = refusedStatus(fault, era) } = refusal;
    const error = toRpcError(fault, era);
    exchange.reply(status, { ...headers, "content-type": JSON_TYPE }, serialise({ jsonrpc: "2.0", id, error }));
  }

  #tell(refusal: Routed): Routed {
    if (refusal !== undefined && refusal.told !== true) tellRefused(this.#options, refusal.fault);
    return refusal;
  }

  close(): Promise<void> {
    this.#closing ??= closingFault();
    return (this.#closed ??= this.#drain(this.#closing));
  }

  async #drain(reason: Fault): Promise<void> {
    const { drainMs = defaultTimeouts.drainMs } = this.#options;
    await Promise.all([...[...this.#sessions].map((session) => session.drain(reason, drainMs)), this.#stateless.drain(reason, drainMs)]);
    clearInterval(this.#timer);
    this.#sessions.close(reason);
    this.#parking.clear();
  }

  #keepAlive(): void {
    for (const session of this.#sessions) session.keepAlive();
    this.#stateless.keepAlive();
  }

  #route(exchange: Exchange, caller: AdmittedCaller): Promise<Routed> | Routed {
    const { headers } = caller;
    if (this.#path !== undefined && exchange.path !== this.#path) {
      exchange.reply(
        requestStatuses["no such path"],
        { ...headers, "content-type": "text/plain" },
        `no such path; the endpoint is ${this.#path}\n`,
      );
      return undefined;
    }
    if (exchange.method === "POST") return this.#post(exchange, caller);
    if (exchange.method === "GET" && this.#stateful) return this.#get(exchange, caller);
    if (exchange.method === "DELETE" && this.#stateful) return this.#delete(exchange, caller);
    exchange.reply(requestStatuses["another method"], {
      ...headers,
      allow: this.#stateful ? "GET, POST, DELETE, OPTIONS" : "POST, OPTIONS",
    });
    return undefined;
  }

  async #post(exchange: Exchange, caller: AdmittedCaller): Promise<Routed> {
    const unreadable = checkBody(exchange);
    if (unreadable !== undefined) return refuseRequest("a body of another type, or packed", unreadable.message);
    const accept = exchange.header("accept") ?? "*/*";
    const json = accepts(accept, JSON_TYPE);
    const streams = accepts(accept, SSE_TYPE) && this.#options.jsonOnly !== true;
    if (!json && !streams) return unacceptable();
    const message = traced(parseMessage(await exchange.body(this.#limits.messageBytes), { depth: this.#limits.depth }), exchange);
    if (message.kind === "bad") {
      const { fault, answers } = message;
      const session = answers === undefined ? undefined : this.#sessions.find(exchange.header("mcp-session-id") ?? "", caller.principal);
      if (session === undefined) this.#options.onFault?.(fault);
      // The question that it was to answer ends, too. No other answer will come.
      else await session.take({ kind: "bad", ...(answers !== undefined && { answers }), silent: true, fault });
      return refuse(fault, message.id ?? null, true);
    }
    // Other messages may be about a call in flight.
    if (this.#closing !== undefined && expectsAnswer(message)) return refuse(this.#closing, message.kind === "request" ? message.id : null);
    const version = exchange.header("mcp-protocol-version");
    const stated = message.kind === "request" || message.kind === "notification" ? statedVersion(message.params) : undefined;
    const modern = !this.#legacy || eraOfRequest(stated, this.#eras, version) === "modern";
    // Member by member, here and wherever an object is made for every call: a spread takes as long as everything else.
    const parts = accept.includes(PARTS_TYPE);
    const { headers, principal } = caller;
    const form: AnswerForm = { era: modern ? "modern" : "legacy", streams, json, parts, headers, principal };
    const begins = message.kind === "request" && message.method === "initialize";
    if (modern) {
      const checked = checkModern(exchange, message) ?? this.#checkParams(exchange, caller, message);
      const refusal = checked instanceof Promise ? await checked : checked;
      if (refusal !== undefined) return refusal;
    } else {
      const unsupported = begins ? undefined : checkVersion(version);
      if (unsupported !== undefined) return refuse(unsupported, message.kind === "request" ? message.id : null);
      if (this.#stateful) return json && streams ? this.#postSession(exchange, caller, message, begins) : unacceptable();
    }
    const listens = message.kind === "request" && message.method === "subscriptions/listen";
    this.#stateless.take(listens ? whileValid(exchange, caller.credentials) : exchange, message, form);
    return undefined;
  }

  /** Checks that the headers that mirror a tool's arguments match them. */
  #checkParams(exchange: Exchange, { principal }: AdmittedCaller, message: Incoming): Promise<Routed> | Routed {
    if (message.kind !== "request" || message.method !== "tools/call") return undefined;
    const refused = (fault: Fault | undefined): Routed => (fault === undefined ? undefined : refuse(fault, message.id));
    const checked = this.#params.check(exchange, message, principal);
    return checked instanceof Promise ? checked.then(refused) : refused(checked);
  }

  async #postSession(exchange: Exchange, caller: AdmittedCaller, message: Incoming, begins: boolean): Promise<Routed> {
    const session = begins ? this.#begin(exchange, caller) : this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    const headers = session.headersWith(caller.headers);
    if (!expectsAnswer(message)) {
      await session.take(message);
      exchange.reply(202, headers);
      return undefined;
    }
    const parts = (exchange.header("accept") ?? "").includes(PARTS_TYPE);
    await session.take(message.kind === "request" ? withMetadata(message, exchange.headers) : message, { exchange, headers, parts });
    return undefined;
  }

  #begin(exchange: Exchange, { principal }: AdmittedCaller): HttpSession {
    const { limits, onFault, pageSize, observe, wire, awayMs, pollMs, pingMs } = this.#options;
    const { remote, headers: metadata } = exchange;
    const session = this.#sessions.begin(
      quotaOwner({ principal, remote }),
      (id) =>
        new HttpSession(this.#service, {
          limits,
          onFault,
          pageSize,
          observe,
          wire,
          awayMs,
          pollMs,
          pingMs,
          id,
          events: this.#events,
          metadata,
          remote,
          principal,
          parking: this.#parking,
          displace: (reason) => this.#sessions.end(session, reason),
          // If initialize failed or its client left, there never was a session.
          onRefused: () => this.#sessions.end(session, new Fault("unavailable", "the session did not begin")),
        }),
    );
    return session;
  }

  #find(exchange: Exchange, { principal }: AdmittedCaller): HttpSession | Refusal {
    const id = exchange.header("mcp-session-id");
    if (id === undefined) return refuseRequest("no session named", "the header Mcp-Session-Id is missing: send initialize first");
    return (
      this.#sessions.find(id, principal) ??
      refuseRequest("a session that is unknown, ended or another's", "no such session: send initialize")
    );
  }

  async #get(asked: Exchange, caller: AdmittedCaller): Promise<Routed> {
    const exchange = whileValid(asked, caller.credentials);
    if (!accepts(exchange.header("accept") ?? "", SSE_TYPE))
      return refuseRequest("an Accept that leaves nothing to answer with", `the Accept has to name ${SSE_TYPE}`);
    const session = this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    const headers = session.headersWith(caller.headers);
    if (this.#closing !== undefined && !session.busy) return refuse(this.#closing);
    const last = exchange.header("last-event-id");
    if (last === undefined)
      return session.listen(exchange, headers)
        ? undefined
        : refuseRequest("a stream that is open already", "the session has a stream open already");
    return (await session.resume(exchange, headers, last))
      ? undefined
      : refuseRequest("events that are not kept any more", "the events after this Last-Event-ID are not kept here any more");
  }

  #delete(exchange: Exchange, caller: AdmittedCaller): Routed {
    const session = this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    this.#sessions.end(session, new Fault("unavailable", "the client ended the session", { data: { reason: "closed" } }));
    exchange.reply(204, caller.headers);
    return undefined;
  }
}

function unacceptable(): Refusal {
  return refuseRequest("an Accept that leaves nothing to answer with", `the Accept has to name ${JSON_TYPE} and ${SSE_TYPE}`);
}

/** A request that came in its own exchange. It belongs to no other call. */
function withMetadata({ kind, id, method, params }: IncomingRequest, metadata: Exchange["headers"]): IncomingRequest {
  return { kind, id, method, params, metadata };
}

/** The message with the trace of the headers. */
function traced(message: Incoming, exchange: Exchange): Incoming {
  if (message.kind !== "request" && message.kind !== "notification") return message;
  const params = withTrace(message.params, (name) => exchange.header(name));
  return params === message.params ? message : { ...message, params };
}

/** A modern POST must be one message of a client, and its headers must match it. */
function checkModern(exchange: Exchange, message: Incoming): Routed {
  if (message.kind === "batch") return refuse(new Fault("invalid-request", "the body has to be one message"));
  if (message.kind === "notification") return undefined;
  if (message.kind !== "request") return refuse(new Fault("invalid-request", "a client sends no responses"));
  const fault = checkEnvelope(message) ?? checkHeaders(exchange, message);
  return fault === undefined ? undefined : refuse(fault, message.id);
}
