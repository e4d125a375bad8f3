import { type Id, type Incoming, parseMessage, serialise } from "../../codec/index.js";
import { defaultLimits, Fault, httpStatuses, isModernVersion, type Limits, type Service, toFault, toRpcError } from "../../core/index.js";
import { admit, type Exchange } from "../../io/index.js";
import { Alone, type Manner } from "./alone.js";
import { JSON_TYPE, PARTS_TYPE, SSE_TYPE } from "./answer.js";
import { accepts, checkBody, checkEnvelope, checkVersion, claimsModern, expectsAnswer } from "./checks.js";
import { checkHeaders } from "./headers.js";
import type { HttpOptions } from "./options.js";
import { type ParamCheck, paramCheck } from "./param-check.js";
import { HttpSession } from "./session.js";
import { Sessions } from "./sessions.js";

/** The MCP endpoint: answers exchanges, whoever hosts them. */
export interface Endpoint {
  /** Answers an exchange; never rejects. */
  handle(exchange: Exchange): Promise<void>;
  /** Ends every session and every open answer. */
  close(): void;
}

interface Caller {
  readonly principal: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export function httpEndpoint(service: Service, options: HttpOptions = {}): Endpoint {
  return new HttpEndpoint(service, options);
}

/** Why an exchange is refused before its message is taken, and how that is said. */
interface Refusal {
  readonly status: number;
  readonly fault: Fault;
  readonly id: Id | null;
}
type Routed = Refusal | undefined;

function refuse(status: number, fault: Fault, id: Id | null = null): Refusal {
  return { status, fault, id };
}

class HttpEndpoint implements Endpoint {
  readonly #options: HttpOptions;
  readonly #limits: Limits;
  readonly #path: string | undefined;
  readonly #sessions: Sessions;
  readonly #alone: Alone;
  readonly #params: ParamCheck;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #legacy: boolean;
  readonly #modern: boolean;
  readonly #stateful: boolean;

  constructor(service: Service, options: HttpOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#path = options.path;
    this.#sessions = new Sessions(service, options);
    this.#params = paramCheck(service);
    this.#alone = new Alone(service, options, { limits: this.#limits, params: this.#params });
    this.#legacy = options.eras?.includes("legacy") ?? true;
    this.#modern = options.eras?.includes("modern") ?? true;
    this.#stateful = this.#legacy && options.stateless !== true && options.jsonOnly !== true;
    this.#timer = setInterval(() => this.#sweep(), options.keepAliveMs ?? 15_000);
    this.#timer.unref();
  }

  async handle(exchange: Exchange): Promise<void> {
    let headers: Readonly<Record<string, string>> = {};
    let refusal: Routed;
    try {
      const admission = await admit(exchange, this.#options, this.#path ?? exchange.path);
      headers = admission.headers;
      if (!("status" in admission)) refusal = await this.#route(exchange, admission);
      else if (admission.status === 403 && !("www-authenticate" in headers)) refusal = refuse(403, new Fault("denied", admission.text));
      else exchange.reply(admission.status, headers, admission.text);
    } catch (error) {
      refusal = refusedBy(toFault(error));
    }
    if (refusal === undefined) return;
    const { status, fault, id } = refusal;
    const error = toRpcError(fault, this.#modern ? "modern" : "legacy");
    exchange.reply(status, { ...headers, "content-type": JSON_TYPE }, serialise({ jsonrpc: "2.0", id, error }));
  }

  close(): void {
    clearInterval(this.#timer);
    const reason = new Fault("unavailable", "the server closed", { data: { reason: "closed" } });
    this.#sessions.close(reason);
    this.#alone.close(reason);
  }

  #sweep(): void {
    this.#sessions.sweep();
    this.#alone.keepAlive();
  }

  #route(exchange: Exchange, caller: Caller): Promise<Routed> | Routed {
    const { headers } = caller;
    if (this.#path !== undefined && exchange.path !== this.#path) {
      exchange.reply(404, { ...headers, "content-type": "text/plain" }, `no such path; the endpoint is ${this.#path}\n`);
      return undefined;
    }
    if (exchange.method === "POST") return this.#post(exchange, caller);
    if (exchange.method === "GET" && this.#stateful) return this.#get(exchange, caller);
    if (exchange.method === "DELETE" && this.#stateful) return this.#delete(exchange, caller);
    exchange.reply(405, { ...headers, allow: this.#stateful ? "GET, POST, DELETE, OPTIONS" : "POST, OPTIONS" });
    return undefined;
  }

  async #post(exchange: Exchange, caller: Caller): Promise<Routed> {
    const unreadable = checkBody(exchange);
    if (unreadable !== undefined) return refuse(415, unreadable);
    const accept = exchange.header("accept") ?? "*/*";
    const json = accepts(accept, JSON_TYPE);
    const streams = accepts(accept, SSE_TYPE) && this.#options.jsonOnly !== true;
    if (!json && !streams) return unacceptable();
    const message = parseMessage(await exchange.body(this.#limits.messageBytes), { depth: this.#limits.depth });
    if (message.kind === "bad") {
      this.#options.onFault?.(message.fault);
      return refuse(message.fault.code === "overload" ? 413 : 400, message.fault, message.id ?? null);
    }
    const version = exchange.header("mcp-protocol-version");
    const modern = this.#modern && (claimsModern(message) || (version !== undefined && isModernVersion(version)) || !this.#legacy);
    // Member by member here and in what every call makes: a spread takes as long as all the rest of it.
    const parts = accept.includes(PARTS_TYPE);
    const { headers, principal } = caller;
    const manner: Manner = { era: modern ? "modern" : "legacy", streams, json, parts, headers, principal };
    const begins = message.kind === "request" && message.method === "initialize";
    if (modern) {
      const checked = checkModern(exchange, message) ?? this.#checkParams(exchange, caller, message);
      const refusal = checked instanceof Promise ? await checked : checked;
      if (refusal !== undefined) return refusal;
    } else {
      const unsupported = begins ? undefined : checkVersion(version);
      if (unsupported !== undefined) return refuse(400, unsupported, message.kind === "request" ? message.id : null);
      if (this.#stateful) return json && streams ? this.#postSession(exchange, caller, message, begins) : unacceptable();
    }
    this.#alone.take(exchange, message, manner);
    return undefined;
  }

  /** The headers that mirror a tool's arguments say what the arguments say. */
  #checkParams(exchange: Exchange, { principal }: Caller, message: Incoming): Promise<Routed> | Routed {
    if (message.kind !== "request" || message.method !== "tools/call") return undefined;
    const refused = (fault: Fault | undefined): Routed => (fault === undefined ? undefined : refuse(400, fault, message.id));
    const checked = this.#params.check(exchange, message, principal);
    return checked instanceof Promise ? checked.then(refused) : refused(checked);
  }

  async #postSession(exchange: Exchange, caller: Caller, message: Incoming, begins: boolean): Promise<Routed> {
    const session = begins ? this.#begin(exchange, caller) : this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    const headers = { ...caller.headers, "mcp-session-id": session.id };
    if (!expectsAnswer(message)) {
      await session.take(message);
      exchange.reply(202, headers);
      return undefined;
    }
    await session.take(message, { exchange, headers, parts: (exchange.header("accept") ?? "").includes(PARTS_TYPE) });
    return undefined;
  }

  #begin(exchange: Exchange, { principal }: Caller): HttpSession | Refusal {
    const session = this.#sessions.begin(exchange, principal);
    return session instanceof Fault ? refuse(429, session) : session;
  }

  #find(exchange: Exchange, { principal }: Caller): HttpSession | Refusal {
    const id = exchange.header("mcp-session-id");
    if (id === undefined) return refuse(400, new Fault("invalid-request", "the header Mcp-Session-Id is missing: send initialize first"));
    return this.#sessions.find(id, principal) ?? refuse(404, new Fault("invalid-request", "no such session: send initialize"));
  }

  async #get(exchange: Exchange, caller: Caller): Promise<Routed> {
    if (!accepts(exchange.header("accept") ?? "", SSE_TYPE))
      return refuse(406, new Fault("invalid-request", `the Accept has to name ${SSE_TYPE}`));
    const session = this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    const headers = { ...caller.headers, "mcp-session-id": session.id };
    const last = exchange.header("last-event-id");
    if (last === undefined)
      return session.listen(exchange, headers)
        ? undefined
        : refuse(409, new Fault("invalid-request", "the session has a stream open already"));
    return (await session.resume(exchange, headers, last))
      ? undefined
      : refuse(410, new Fault("invalid-request", "the events after this Last-Event-ID are not kept here any more"));
  }

  #delete(exchange: Exchange, caller: Caller): Routed {
    const session = this.#find(exchange, caller);
    if (!(session instanceof HttpSession)) return session;
    this.#sessions.end(session, new Fault("unavailable", "the client ended the session", { data: { reason: "closed" } }));
    exchange.reply(204, caller.headers);
    return undefined;
  }
}

function unacceptable(): Refusal {
  return refuse(406, new Fault("invalid-request", `the Accept has to name ${JSON_TYPE} and ${SSE_TYPE}`));
}

function refusedBy(fault: Fault): Refusal {
  if (fault.code === "overload") return refuse(413, fault);
  if (fault.code === "deadline") return refuse(408, fault);
  return refuse(fault.code === "internal" ? 500 : httpStatuses[fault.code].modern, fault);
}

/** A modern POST is one message of a client, and its headers say what it says. */
function checkModern(exchange: Exchange, message: Incoming): Routed {
  if (message.kind === "batch") return refuse(400, new Fault("invalid-request", "the body has to be one message"));
  if (message.kind === "notification") return undefined;
  if (message.kind !== "request") return refuse(400, new Fault("invalid-request", "a client sends no responses"));
  const fault = checkEnvelope(message) ?? checkHeaders(exchange, message);
  return fault === undefined ? undefined : refuse(400, fault, message.id);
}
