import { type Ask, type Context, type Layer, type Replies, type Reply, type Request, toFault } from "../../api/index.js";
import { AMBIENT, isObject, jsonText, weigh } from "../../core/index.js";
import { bytesText } from "../out/amount.js";
import { cleanLine } from "../out/clean.js";
import { redact, redactText } from "./redact.js";

export interface WireLogOptions {
  readonly line: (text: string) => void;
  /** The bodies too. */
  readonly bodies: boolean;
}

/** Characters of a body that are shown. */
const BODY = 2000;

/** A layer that tells of every call, what comes back for it, and every notification. Calls are numbered in the order they begin. */
export function wireLog(options: WireLogOptions): Layer {
  let calls = 0;
  const tell: Tell = (arrow, id, what, body, extra = "") => {
    const number = id === undefined ? "" : ` #${id}`;
    const size = body === undefined ? "" : ` ${bytesText(weigh(body))}`;
    options.line(redactText(cleanLine(`${arrow}${number} ${what}${size}${extra}`)));
    if (options.bodies && body !== undefined) options.line(`    ${cleanLine(shown(body))}`);
  };
  return (inner) => ({
    call(request, context) {
      const replies = inner.call(request, context);
      return new Logged(replies, request, context, request.method === AMBIENT ? undefined : ++calls, tell);
    },
    notify(notification, context) {
      tell("→", undefined, notification.method, notification.params);
      return inner.notify(notification, context);
    },
  });
}

type Tell = (arrow: "→" | "←", id: number | undefined, what: string, body?: unknown, extra?: string) => void;

function shown(body: unknown): string {
  const text = jsonText(redact(body)) ?? "";
  return text.length > BODY ? `${text.slice(0, BODY)}… ${text.length - BODY} characters more` : text;
}

class Logged implements Replies {
  readonly #inner: Replies;
  readonly #request: Request;
  readonly #context: Context;
  readonly #id: number | undefined;
  readonly #tell: Tell;
  #began: number | undefined;
  #ended = false;
  #items = 0;
  #bytes = 0;

  constructor(inner: Replies, request: Request, context: Context, id: number | undefined, tell: Tell) {
    this.#inner = inner;
    this.#request = request;
    this.#context = context;
    this.#id = id;
    this.#tell = tell;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  async next(): Promise<IteratorResult<Reply, undefined>> {
    if (this.#began === undefined) {
      this.#began = performance.now();
      if (this.#id !== undefined) this.#tell("→", this.#id, this.#request.method, this.#request.params);
    }
    try {
      const step = await this.#inner.next();
      if (step.done === true) this.#ended = true;
      else this.#reply(step.value);
      if (step.done !== true && step.value.kind === "ask")
        return { done: false, value: { ...step.value, ask: this.#answered(step.value.ask) } };
      return step;
    } catch (error) {
      const fault = toFault(error);
      if (!this.#ended && this.#id !== undefined) {
        if (this.#context.cancel.fired) this.#tell("→", this.#id, "cancelled", undefined, `: ${fault.message}`);
        else this.#tell("←", this.#id, `fault ${fault.rpcCode ?? fault.code}`, fault.data, `: ${fault.message}${this.#time()}`);
      }
      this.#ended = true;
      throw error;
    }
  }

  return(): Promise<IteratorResult<Reply, undefined>> {
    if (!this.#ended && this.#began !== undefined && this.#id !== undefined) {
      if (this.#items > 0) this.#page();
      this.#tell("→", this.#id, "cancelled");
    }
    this.#ended = true;
    return this.#inner.return();
  }

  #reply(reply: Reply): void {
    const id = this.#id;
    switch (reply.kind) {
      case "item":
        this.#items++;
        this.#bytes += weigh(reply.value);
        return;
      case "page":
        return this.#page();
      case "content":
        return this.#tell("←", id, `content ${reply.form}`, reply.head, reply.offset ? ` at ${reply.offset}` : "");
      case "chunk":
        return this.#tell("←", id, `chunk ${bytesText(reply.data.length)}`);
      case "ask":
        return this.#tell("←", id, `asks ${reply.ask.request.method}`, reply.ask.request.params);
      case "note":
        return this.#tell("←", id, reply.method, reply.params);
      case "result": {
        this.#ended = true;
        if (this.#items > 0) this.#page();
        const asks = reply.value["resultType"] === "input_required" && isObject(reply.value["inputRequests"]);
        return this.#tell("←", id, asks ? "result, input required" : "result", reply.value, this.#time());
      }
      default:
        return this.#tell("←", id, reply.kind, reply.params);
    }
  }

  /** The same ask, whose answer is told of too. */
  #answered(ask: Ask): Ask {
    const tell = (what: string, body: unknown): void => this.#tell("→", this.#id, `${what} ${ask.request.method}`, body);
    return {
      key: ask.key,
      request: ask.request,
      origin: ask.origin,
      cancel: ask.cancel,
      wantsProgress: ask.wantsProgress,
      progress: (params) => ask.progress(params),
      answer: (result) => {
        tell("answers", result);
        ask.answer(result);
      },
      refuse: (fault) => {
        tell("refuses", { message: fault.message });
        ask.refuse(fault);
      },
    };
  }

  /** Items are told of by the page: a line for each would say no more. */
  #page(): void {
    this.#tell("←", this.#id, `${this.#items} items ${bytesText(this.#bytes)}`);
    this.#items = this.#bytes = 0;
  }

  #time(): string {
    return ` in ${Math.round(performance.now() - (this.#began ?? 0))} ms`;
  }
}
