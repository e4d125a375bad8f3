import {
  AMBIENT,
  CALL_BYTES,
  Canceller,
  type Client,
  type Context,
  Fault,
  type Held,
  type Identity,
  isLegacyVersion,
  isLogLevel,
  isObject,
  type JsonObject,
  type LogLevel,
  legacyVersions,
  logLevels,
  memoryOf,
  meta,
  type Replies,
  type Request,
  resultOf,
  toFault,
} from "../../core/index.js";
import { isLegacyServer } from "../extensions.js";
import type { AnswerOptions } from "./answer-options.js";
import { type AskClient, askClient } from "./ask-client.js";

/** What a server keeps for a legacy client between its requests. */
export interface LegacySession {
  readonly client: Client;
  readonly asks: AskClient;
  /** Whether `notifications/initialized` has come. */
  readonly ready: boolean;
  readonly level: LogLevel | undefined;
  /** Whether the server is a legacy one too: then messages pass unchanged. */
  readonly neutral: boolean;
  /** Called after `notifications/initialized`: opens the call that brings the client asks, logs and changes outside its calls. */
  start(): void;
  /** Answers the requests about the session itself; undefined for every other request. */
  request(request: Request, trace: Context["trace"]): Promise<JsonObject> | undefined;
  close(reason: Fault): void;
}

export interface LegacySessionOptions {
  readonly identity: Identity;
  readonly metadata: Context["metadata"];
  /** Cancels the opening. */
  readonly cancel: Canceller;
  readonly onFault: (fault: Fault) => void;
  /** Counts what the session keeps. */
  readonly kept: Held;
}

/** Negotiates a session and answers `initialize`. */
export async function legacySession(
  answerOptions: AnswerOptions,
  request: Request,
  options: LegacySessionOptions,
): Promise<{ session: LegacySession; result: JsonObject }> {
  const { protocolVersion, capabilities, clientInfo, ...unknown } = request.params;
  if (typeof protocolVersion !== "string") throw new Fault("invalid-params", "initialize needs a protocolVersion");
  const { clientBytes } = answerOptions.limits;
  const said = memoryOf(capabilities) + memoryOf(clientInfo);
  if (said > clientBytes)
    throw new Fault("overload", `the client's info and capabilities have more than ${clientBytes} bytes`, {
      data: { limit: "clientBytes", max: clientBytes },
    });
  // No use of the reserve: it is for calls, which end soon.
  const over = options.kept.grow(said + memoryOf(options.metadata));
  if (over !== undefined) throw over;
  const version = isLegacyVersion(protocolVersion) ? protocolVersion : legacyVersions[0];
  const client: Client = {
    identity: options.identity,
    era: "legacy",
    protocolVersion: version,
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(isObject(clientInfo) ? { info: clientInfo } : undefined),
  };
  const context = (cancel: Canceller, level?: LogLevel): Context => ({
    client,
    cancel,
    progress: false,
    metadata: options.metadata,
    ...(level === undefined ? undefined : { logLevel: level }),
  });
  const found = await resultOf(answerOptions.service.call({ method: "server/discover", params: unknown }, context(options.cancel))).catch(
    (error) => {
      options.kept.free();
      throw error;
    },
  );
  const { supportedVersions, resultType, ttlMs, cacheScope, _meta, ...rest } = found;
  const known = isObject(_meta) ? _meta : {};
  const { [meta.serverInfo]: serverInfo, ...others } = known;
  const result = {
    protocolVersion: version,
    ...rest,
    serverInfo: serverInfo ?? { name: "unknown", version: "0" },
    ...(Object.keys(others).length > 0 ? { _meta: others } : undefined),
  };
  return { session: new Session(answerOptions, client, context, found, options), result };
}

/** A session for a single request: nothing was negotiated, and nothing follows. */
export function assumedSession(
  answerOptions: AnswerOptions,
  version: string,
  options: Omit<LegacySessionOptions, "cancel">,
): LegacySession {
  const client: Client = {
    identity: options.identity,
    era: "legacy",
    protocolVersion: isLegacyVersion(version) ? version : legacyVersions[0],
    capabilities: {},
  };
  const session = new Session(
    answerOptions,
    client,
    (cancel) => ({ client, cancel, progress: false, metadata: options.metadata }),
    {},
    options,
  );
  session.ready = true;
  return session;
}

class Session implements LegacySession {
  readonly client: Client;
  readonly asks: AskClient;
  ready = false;
  level: LogLevel | undefined;
  readonly #answerOptions: AnswerOptions;
  readonly #context: (cancel: Canceller, level?: LogLevel) => Context;
  readonly #served: JsonObject;
  readonly neutral: boolean;
  readonly #onFault: (fault: Fault) => void;
  readonly #kept: Held;
  readonly #subscriptions = new Map<string, { readonly cancel: Canceller; readonly held: Held }>();
  #ambient: Canceller | undefined;
  #changes: Canceller | undefined;
  #closed = false;

  constructor(
    answerOptions: AnswerOptions,
    client: Client,
    context: (cancel: Canceller, level?: LogLevel) => Context,
    found: JsonObject,
    { onFault, kept }: Pick<LegacySessionOptions, "onFault" | "kept">,
  ) {
    this.#answerOptions = answerOptions;
    this.client = client;
    this.#context = context;
    this.#served = isObject(found["capabilities"]) ? found["capabilities"] : {};
    this.neutral = isLegacyServer(found);
    this.#onFault = onFault;
    this.#kept = kept;
    this.asks = askClient(client, (message, options) => answerOptions.send(message, options));
  }

  start(): void {
    if (this.ready || this.#closed) return;
    this.ready = true;
    this.#openAmbient();
    if (this.neutral) return;
    const changes = Object.fromEntries(
      (["tools", "prompts", "resources"] as const)
        .filter((name) => {
          const served = this.#served[name];
          return isObject(served) && served["listChanged"] === true;
        })
        .map((name) => [`${name}ListChanged`, true]),
    );
    if (Object.keys(changes).length > 0) this.#changes = this.#listen(changes);
  }

  request(request: Request, trace: Context["trace"]): Promise<JsonObject> | undefined {
    switch (request.method) {
      case "logging/setLevel":
        return this.neutral ? this.#passLevel(request, trace) : this.#setLevel(request.params["level"]);
      case "resources/subscribe":
        if (this.neutral) return undefined;
        return this.#subscribe(request.params["uri"]);
      case "resources/unsubscribe":
        if (this.neutral) return undefined;
        return this.#unsubscribe(request.params["uri"]);
      case "server/discover":
      case "subscriptions/listen":
        return Promise.reject(new Fault("unknown-method", `unknown method: ${request.method}`));
      default:
        return undefined;
    }
  }

  close(reason: Fault): void {
    this.#closed = true;
    this.asks.close(reason);
    this.#ambient?.fire(reason);
    this.#changes?.fire(reason);
    for (const [uri, { cancel }] of this.#subscriptions) {
      cancel.fire(reason);
      this.#forget(uri);
    }
    this.#kept.free();
  }

  #openAmbient(): void {
    this.#ambient?.fire();
    this.#ambient = new Canceller();
    void this.#pump(
      this.#answerOptions.service.call(
        { method: AMBIENT, params: this.neutral ? { changes: true } : {} },
        this.#context(this.#ambient, this.level),
      ),
      this.#ambient,
    );
  }

  #listen(notifications: JsonObject, acknowledged?: (notifications: JsonObject) => void, failed?: (fault: Fault) => void): Canceller {
    const cancel = new Canceller();
    const replies = this.#answerOptions.service.call({ method: "subscriptions/listen", params: { notifications } }, this.#context(cancel));
    void this.#pump(replies, cancel, acknowledged, failed);
    return cancel;
  }

  /** Reads a long-lived call and passes on its replies. */
  async #pump(
    replies: Replies,
    cancel: Canceller,
    acknowledged?: (notifications: JsonObject) => void,
    failed?: (fault: Fault) => void,
  ): Promise<void> {
    try {
      await resultOf(replies, async (reply) => {
        if (reply.kind === "note" && reply.method === "notifications/subscriptions/acknowledged")
          acknowledged?.(isObject(reply.params["notifications"]) ? reply.params["notifications"] : {});
        else if (reply.kind === "note") await this.#answerOptions.send({ jsonrpc: "2.0", method: reply.method, params: reply.params });
        else if (reply.kind === "log")
          await this.#answerOptions.send({ jsonrpc: "2.0", method: "notifications/message", params: reply.params });
        else if (reply.kind === "ask") await this.asks.ask(reply.ask, undefined, false);
      });
      failed?.(new Fault("unavailable", "the subscription ended"));
    } catch (error) {
      const fault = toFault(error);
      failed?.(fault);
      // Not every service sends something outside its calls.
      if (!cancel.fired && failed === undefined && fault.code !== "unknown-method") this.#onFault(fault);
    }
  }

  /** The client's next calls use the new level at once, unless the server refuses it. */
  async #passLevel(request: Request, trace: Context["trace"]): Promise<JsonObject> {
    const before = this.level;
    const level = logLevels.find((known) => known === request.params["level"]) ?? before;
    const result = resultOf(this.#answerOptions.service.call(request, { ...this.#context(new Canceller()), ...(trace && { trace }) }));
    this.level = level;
    this.#openAmbient();
    return result.catch((error) => {
      if (this.level === level) this.level = before;
      throw error;
    });
  }

  #setLevel(level: unknown): Promise<JsonObject> {
    if (!isLogLevel(level))
      return Promise.reject(new Fault("invalid-params", `unknown log level: ${String(level)}; one of ${logLevels.join(", ")}`));
    this.level = level;
    this.#openAmbient();
    return Promise.resolve({});
  }

  #subscribe(uri: unknown): Promise<JsonObject> {
    if (typeof uri !== "string") return Promise.reject(new Fault("invalid-params", "resources/subscribe needs a uri"));
    if (this.#subscriptions.has(uri)) return Promise.resolve({});
    const { inFlight, uriChars } = this.#answerOptions.limits;
    if (uri.length > uriChars) return refused("the URI is too long to subscribe to", { limit: "uriChars", max: uriChars });
    if (this.#subscriptions.size >= inFlight) return refused("too many subscriptions", { limit: "inFlight", max: inFlight });
    const held = this.#answerOptions.hold();
    const over = held.grow(CALL_BYTES + memoryOf(uri));
    if (over !== undefined) return Promise.reject(over);
    return new Promise((resolve, reject) => {
      const forget = (): void => {
        // The subscription may have been renewed meanwhile.
        if (this.#subscriptions.get(uri)?.cancel === cancel) this.#forget(uri);
      };
      const cancel = this.#listen(
        { resourceSubscriptions: [uri] },
        (honoured) => {
          const uris = honoured["resourceSubscriptions"];
          if (Array.isArray(uris) && uris.includes(uri)) return resolve({});
          cancel.fire();
          forget();
          return reject(new Fault("unknown-method", "the server has no subscriptions to resources"));
        },
        (fault) => {
          forget();
          reject(fault);
        },
      );
      this.#subscriptions.set(uri, { cancel, held });
    });
  }

  #unsubscribe(uri: unknown): Promise<JsonObject> {
    if (typeof uri !== "string") return Promise.reject(new Fault("invalid-params", "resources/unsubscribe needs a uri"));
    this.#subscriptions.get(uri)?.cancel.fire();
    this.#forget(uri);
    return Promise.resolve({});
  }

  #forget(uri: string): void {
    this.#subscriptions.get(uri)?.held.free();
    this.#subscriptions.delete(uri);
  }
}

function refused(message: string, data: JsonObject): Promise<never> {
  return Promise.reject(new Fault("overload", message, { data }));
}
