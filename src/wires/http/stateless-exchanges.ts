import type { Incoming, Outgoing } from "../../codec/index.js";
import { type Era, Fault, type JsonObject, type Service, UNSTATED_VERSION } from "../../core/index.js";
import { KnownCallers, type LinkTraits, type Parking, type Serving, serving, sharedStream } from "../../era/index.js";
import type { Exchange } from "../../io/index.js";
import { Registry } from "../../stream/index.js";
import { type HttpAnswer, postAnswer } from "./answer.js";
import { expectsAnswer, statusOf } from "./checks.js";
import type { HttpOptions } from "./options.js";
import type { ParamCheck } from "./param-check.js";

/** The reason for ending an exchange that went well. Shared, because creating an error is slow. */
const answered = new Fault("unavailable", "the call was answered");
const ended = new Fault("unavailable", "the exchange has ended");

/** The forms that the answer to one POST may take. */
export interface AnswerForm {
  readonly era: Era;
  readonly streams: boolean;
  readonly json: boolean;
  readonly parts: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly principal: string | undefined;
}

type Outlet = Parameters<typeof serving>[1];
const ownStream = (): boolean => true;
const never = (): boolean => false;

function onlyReads(answer: HttpAnswer): LinkTraits["inParts"] {
  return (method, call) => method === "resources/read" && call !== undefined && answer.inParts();
}

interface OpenExchange {
  keepAlive(): void;
  drain(reason: Fault, ms: number): Promise<void>;
}

/** Serves exchanges that stand alone: modern ones, and legacy ones without a session. */
export class StatelessExchanges {
  readonly #service: Service;
  readonly #options: HttpOptions;
  readonly #parking: Parking;
  /** Callers with credentials, and those behind a relay: each of their requests stands alone. */
  readonly #callers = new KnownCallers();
  readonly #params: ParamCheck;
  readonly #open = new Registry<OpenExchange>();
  #last = 0;

  constructor(service: Service, options: HttpOptions, { parking, params }: { readonly parking: Parking; readonly params: ParamCheck }) {
    this.#service = service;
    this.#options = options;
    this.#parking = parking;
    this.#params = params;
  }

  take(exchange: Exchange, message: Incoming, form: AnswerForm): void {
    if (expectsAnswer(message)) return this.#answer(exchange, message, form);
    const served = this.#serving(exchange, message, form, { send: () => Promise.resolve() });
    void served.take(message);
    served.end(ended);
    exchange.reply(202, form.headers);
  }

  keepAlive(): void {
    for (const open of this.#open.values()) open.keepAlive();
  }

  async drain(reason: Fault, ms: number): Promise<void> {
    await Promise.all(this.#open.values().map((open) => open.drain(reason, ms)));
    this.#callers.close();
  }

  #answer(exchange: Exchange, message: Incoming, form: AnswerForm): void {
    const { era, streams, json, parts, headers } = form;
    const answer = postAnswer(exchange, { streams, json, parts, headers, status: (sent) => statusOf(sent, era) });
    const lists = form.era === "modern" && message.kind === "request" && message.method === "tools/list";
    let unhook = (): void => {};
    const at = ++this.#last;
    const end = (reason: Fault): void => {
      unhook();
      this.#open.delete(at);
      served.end(reason);
    };
    const send = (sent: Outgoing): Promise<void> => {
      const final = Array.isArray(sent) || !("method" in sent);
      if (lists && "result" in sent) this.#params.learn(sent.result as JsonObject, form.principal);
      const written = answer.send(sent, final);
      if (final) end(answered);
      return written;
    };
    // The answers to a batch are sent together.
    const inParts = message.kind === "request" ? onlyReads(answer) : never;
    const traits: LinkTraits = { ownStream, inParts, bytes: false };
    const served = this.#serving(exchange, message, form, { send, traits, part: answer.part });
    const open: OpenExchange = { keepAlive: () => answer.keepAlive(), drain: (reason, ms) => served.drain(reason, ms) };
    this.#open.set(at, open);
    unhook = exchange.onGone(() => end(new Fault("cancelled", "the client closed the stream")));
    void served.take(message);
  }

  #serving(exchange: Exchange, message: Incoming, form: AnswerForm, outlet: Partial<Outlet> & Pick<Outlet, "send">): Serving {
    const { era, principal } = form;
    const { limits, onFault, pageSize, observe, wire } = this.#options;
    // An `initialize` without a session is answered like any request. Later requests state the negotiated version themselves.
    const begins = message.kind === "request" && message.method === "initialize";
    const assume = era === "legacy" && !begins ? (exchange.header("mcp-protocol-version") ?? UNSTATED_VERSION) : undefined;
    // Without spreads: they take as long as everything else here.
    return serving(
      this.#service,
      { traits: outlet.traits ?? sharedStream.traits, part: outlet.part ?? sharedStream.part, send: outlet.send, backlog: 0 },
      {
        limits,
        onFault,
        pageSize,
        observe,
        wire,
        eras: [era],
        identity: "each",
        anonymous: this.#options.anonymous,
        callers: this.#callers,
        parking: this.#parking,
        account: exchange.account,
        metadata: exchange.headers,
        remote: exchange.remote,
        principal,
        assume,
      },
    );
  }
}
