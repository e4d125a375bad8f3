import { Registry } from "../../stream/index.js";
import { type Cancel, Canceller, fromSignal, neverCancelled } from "../cancel.js";
import { Fault, toFault } from "../fault.js";
import { Caller } from "../identity.js";
import { extended, type JsonObject } from "../json.js";
import { optionLimits } from "../limits.js";
import { type LogLevel, listMembers } from "../methods.js";
import type { Client, Context, Message, Range, Reply, Request } from "../service.js";
import type { Connection } from "../wire.js";
import { AskAnswers, clientCapabilities } from "./asks.js";
import { Collected } from "./collect.js";
import { CallExchange, type ExchangeOwner, type ExchangeStart } from "./exchange.js";
import type { CallOptions, ClientOptions, LogEntry, Progress } from "./options.js";

/** What a call needs in addition to its caller's options. */
export interface EngineCallOptions extends CallOptions {
  /** Whether the reader of the replies takes progress itself. */
  readonly progress?: boolean;
  /** Whether the call has no timeout unless the caller sets one. */
  readonly lasting?: boolean;
  readonly range?: Range;
  readonly pageSize?: number | undefined;
  readonly exactNumbers?: boolean | undefined;
}

const plain: EngineCallOptions = {};
const noMetadata: Context["metadata"] = {};

/** Makes calls on a connection for one client, and hands everything but the result to the client's hooks. */
export class Engine implements ExchangeOwner {
  readonly service: Connection;
  readonly options: ClientOptions;
  readonly answers: AskAnswers;
  readonly maxRounds: number;
  readonly collectBytes: number;
  /** One object for the life of the connection: this client makes every call. */
  readonly client: Client;
  logLevel: LogLevel | undefined;
  readonly #open = new Registry<CallExchange>();
  #closed: Fault | undefined;

  constructor(connection: Connection, options: ClientOptions, info: JsonObject) {
    this.service = connection;
    this.options = options;
    this.answers = new AskAnswers(options, this.report);
    this.maxRounds = options.maxRounds ?? optionLimits.maxRounds;
    this.collectBytes = options.collectBytes ?? optionLimits.collectBytes;
    this.logLevel = options.logLevel;
    this.client = {
      identity: new Caller({ span: "self" }),
      era: connection.era,
      protocolVersion: connection.protocolVersion,
      info,
      capabilities: clientCapabilities(options, connection.era),
    };
  }

  enter(exchange: CallExchange): Fault | undefined {
    if (this.#closed === undefined) this.#open.set(exchange.number, exchange);
    return this.#closed;
  }

  leave(exchange: CallExchange): void {
    this.#open.delete(exchange.number);
  }

  /** Fails every open call and every later one. */
  close(reason: Fault): void {
    this.#closed ??= reason;
    for (const exchange of this.#open.values()) exchange.fail(reason);
  }

  /** Called when the connection ended by itself. */
  lost(reason: Fault): void {
    for (const exchange of this.#open.values()) exchange.lost(reason);
  }

  exchange(method: string, params: JsonObject, callOptions: EngineCallOptions = plain): CallExchange {
    const request: Request = { method, params: callOptions.meta === undefined ? params : extended(params, { _meta: callOptions.meta }) };
    return new CallExchange(this, request, () => this.#start(callOptions), callOptions.exactNumbers === true);
  }

  async notify(notification: Message): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    await this.service.notify(notification, this.context(plain, neverCancelled));
  }

  /** Makes a call and returns its whole result. */
  async call(method: string, params: JsonObject, callOptions: EngineCallOptions = plain): Promise<JsonObject> {
    const exchange = this.exchange(method, params, callOptions);
    let collected = collects(method) ? new Collected(method, this.collectBytes) : undefined;
    for (;;) {
      const step = await exchange.next();
      if (step.done === true) throw this.unfinished();
      const reply = step.value;
      if (reply.kind === "result") return collected === undefined ? reply.value : collected.whole(reply.value);
      if (this.hear(reply, method, params, callOptions)) continue;
      try {
        collected ??= new Collected(method, this.collectBytes);
        collected.add(reply);
      } catch (error) {
        void exchange.return();
        throw error;
      }
    }
  }

  /** Returns a result whose type a typed call can return. Throws for any other, because the caller would miss its meaning. */
  complete(result: JsonObject): JsonObject {
    const type = result["resultType"];
    if (type === undefined || type === "complete" || this.options.resultTypes?.some((known) => known === type) === true) return result;
    throw new Fault("invalid-request", `the server sent a result of the unknown type ${JSON.stringify(type)}`, {
      data: { resultType: type },
    });
  }

  unfinished(): Fault {
    return new Fault("cancelled", "the call ended without a result");
  }

  /** Hands a reply to the hooks; false if no hook is for it. */
  hear(reply: Reply, method: string, params: JsonObject, callOptions: EngineCallOptions = plain): boolean {
    try {
      switch (reply.kind) {
        case "progress":
          if (callOptions.onProgress !== undefined) callOptions.onProgress(reply.params as Progress);
          else this.options.onProgress?.(reply.params as Progress, { method, params });
          return true;
        case "log":
          (callOptions.onLog ?? this.options.onLog)?.(reply.params as LogEntry);
          return true;
        case "note":
          this.options.onNotification?.({ method: reply.method, params: reply.params });
          return true;
        default:
          return false;
      }
    } catch (error) {
      if (this.options.onFault === undefined) surface(error);
      else this.report(toFault(error));
      return true;
    }
  }

  /** Tells `onFault`, if there is one. */
  readonly report = (fault: Fault): void => {
    try {
      this.options.onFault?.(fault);
    } catch (error) {
      surface(error);
    }
  };

  context(callOptions: EngineCallOptions, cancel: Cancel): Context {
    const { options } = this;
    const listens = callOptions.onProgress !== undefined || options.onProgress !== undefined;
    // Members are added one by one: spreading them costs more than all the rest of a call.
    const context: { -readonly [member in keyof Context]: Context[member] } = {
      client: this.client,
      cancel,
      progress: callOptions.progress === true || listens,
      metadata: callOptions.metadata ?? noMetadata,
    };
    const level =
      callOptions.logLevel ?? this.logLevel ?? (callOptions.onLog === undefined && options.onLog === undefined ? undefined : "info");
    if (level !== undefined) context.logLevel = level;
    const timeout = callOptions.timeout ?? (callOptions.lasting === true ? undefined : options.timeout);
    if (timeout !== undefined && timeout !== Number.POSITIVE_INFINITY) context.deadline = Date.now() + timeout;
    if (callOptions.trace !== undefined) context.trace = callOptions.trace;
    if (callOptions.range !== undefined) context.range = callOptions.range;
    if (callOptions.pageSize !== undefined) context.pageSize = callOptions.pageSize;
    return context;
  }

  #start(callOptions: EngineCallOptions): ExchangeStart {
    if (callOptions.signal === undefined) {
      const cancel = new Canceller();
      return { context: this.context(callOptions, cancel), cancel };
    }
    const { cancel, release } = fromSignal(callOptions.signal);
    return { context: this.context(callOptions, cancel), cancel, release };
  }
}

function collects(method: string): boolean {
  return listMembers.has(method) || method === "resources/read";
}

/** Rethrows the error of a user's callback as an uncaught one, because nobody else sees it. */
function surface(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
