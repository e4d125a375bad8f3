import type { AnswerPart, Id, Incoming, IncomingRequest, LinkTraits, Outgoing, SendOptions } from "../../codec/index.js";
import { type Era, Fault, fromRpcError, isObject, type JsonObject, notifyObserver } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import type { CallWatch } from "../watch/call-watch.js";
import type { LinkWatch } from "../watch/link-watch.js";
import type { Respond } from "./calls.js";
import type { AnswerOutlet, Serving } from "./serving.js";

/** Watches the serving side of a link. */
export class ServingWatch {
  readonly link: LinkWatch;
  readonly #open = new Registry<CallWatch>();
  #session: { readonly protocolVersion: string; readonly client?: JsonObject } | undefined;

  constructor(link: LinkWatch) {
    this.link = link;
  }

  /** Notes a request. Returns the function that takes its answer. */
  request({ id, method, params }: IncomingRequest, era: Era, identity: string | undefined, respond: Respond): Respond {
    const call = this.link.call(era, { method, params }, identity);
    // A second request with the same id is refused, and the first goes on.
    if (!this.#open.has(id)) this.#open.set(id, call);
    return (message, refused) => {
      const sent = respond(message, refused);
      if (this.#open.get(id) === call) this.#open.delete(id);
      if (message === undefined || "method" in message) call.fail(new Fault("cancelled", "the call was cancelled"));
      else if ("result" in message) {
        call.result(message.result);
        if (method === "initialize" && era === "legacy") this.#opened(message.result, params);
      } else {
        const fault = message.fault ?? fromRpcError(message.error);
        call.fail(fault);
        if (refused === true) this.link.refusal("refused", fault, method);
      }
      return sent;
    };
  }

  /** The link has ended. */
  end(): void {
    if (this.#session !== undefined) notifyObserver(this.link.observer, "session", { ...this.link.at, kind: "end", ...this.#session });
    this.#session = undefined;
  }

  part(call: Id, sent: AnswerPart): void {
    this.link.part("sent", call, sent);
    this.#open.get(call)?.reply(sent);
  }

  sent(message: Outgoing, call: Id | undefined): void {
    this.link.sent(message);
    const open = call === undefined ? undefined : this.#open.get(call);
    if (open === undefined || Array.isArray(message) || !("method" in message)) return;
    if ("id" in message) open.question(message.method);
    else if (message.method === "notifications/progress") {
      const { progressToken, ...params } = message.params ?? {};
      open.progress(params);
    }
  }

  #opened({ protocolVersion }: JsonObject, { clientInfo }: JsonObject): void {
    this.end();
    this.#session = { protocolVersion: String(protocolVersion), ...(isObject(clientInfo) ? { client: clientInfo } : undefined) };
    notifyObserver(this.link.observer, "session", { ...this.link.at, kind: "open", ...this.#session });
  }
}

/**
 * A link to send to that reports everything that is sent. It is a class because a getter in an object literal would give every object a
 * hidden class of its own.
 */
export class WatchedOutlet implements AnswerOutlet {
  readonly traits: LinkTraits;
  readonly #link: AnswerOutlet;
  readonly #watch: ServingWatch;

  constructor(link: AnswerOutlet, watch: ServingWatch) {
    this.traits = link.traits;
    this.#link = link;
    this.#watch = watch;
  }

  get backlog(): number {
    return this.#link.backlog;
  }

  send(message: Outgoing, options?: SendOptions): Promise<void> {
    this.#watch.sent(message, options?.call);
    return this.#link.send(message, options);
  }

  part(call: Id, sent: AnswerPart): Promise<void> | undefined {
    this.#watch.part(call, sent);
    return this.#link.part(call, sent);
  }
}

/** A server of a link that reports everything that it takes. */
export class WatchedServing implements Serving {
  readonly #server: Serving;
  readonly #link: LinkWatch;

  constructor(server: Serving, { link }: ServingWatch) {
    this.#server = server;
    this.#link = link;
  }

  get asking(): boolean {
    return this.#server.asking;
  }

  take(message: Incoming): Promise<void> | undefined {
    this.#link.received(message);
    return this.#server.take(message);
  }

  idle(ms: number): Promise<void> {
    return this.#server.idle(ms);
  }

  drain(reason: Fault, ms: number): Promise<void> {
    return this.#server.drain(reason, ms);
  }

  end(reason: Fault): void {
    this.#server.end(reason);
  }
}
