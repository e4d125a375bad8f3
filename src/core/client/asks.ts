import { Canceller } from "../cancel.js";
import { withNumbers } from "../exact.js";
import { Fault, toFault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import type { ElicitParams, SampleParams } from "../protocol.js";
import type { Ask, Era, Request } from "../service.js";
import type { AskContext, AskHandler, ClientOptions } from "./options.js";

/** The capabilities that the handlers amount to, with `capabilities` added member by member. */
export function clientCapabilities(options: ClientOptions, era: Era): JsonObject {
  const declared: Record<string, unknown> = {};
  if (options.elicit !== undefined) declared["elicitation"] = options.elicitUrl === true ? { form: {}, url: {} } : { form: {} };
  if (options.sample !== undefined) declared["sampling"] = options.sampleTools === true ? { tools: {} } : {};
  // Only the legacy era has a notification that the roots have changed.
  if (options.roots !== undefined) declared["roots"] = era === "legacy" ? { listChanged: true } : {};
  for (const [name, extra] of Object.entries(options.capabilities ?? {})) {
    const own = declared[name];
    declared[name] = isObject(own) && isObject(extra) ? { ...own, ...extra } : extra;
  }
  return declared;
}

/** Answers a server's questions with the user's handlers, however the questions arrive. */
export class AskAnswers {
  readonly #handlers: ReadonlyMap<string, AskHandler>;
  readonly #report: (fault: Fault) => void;

  constructor(options: ClientOptions, report: (fault: Fault) => void) {
    this.#handlers = handlersOf(options);
    this.#report = report;
  }

  /**
   * Answers an ask while its call goes on. Firing the returned canceller withdraws it. `settled` is called once when the ask is answered,
   * refused or withdrawn, but not if it was withdrawn before it was taken.
   */
  take(ask: Ask, settled: (cancel: Canceller) => void): Canceller {
    const cancel = new Canceller();
    const unhook = ask.cancel.on(() => cancel.fire(ask.cancel.reason));
    let open = true;
    const settle = (): void => {
      if (!open) return;
      open = false;
      unhook();
      settled(cancel);
    };
    if (cancel.fired) return cancel;
    // A handler that ignores its signal may run for ever, so nobody waits for it.
    cancel.on(settle);
    const progress = (params: JsonObject): void => {
      if (open && ask.wantsProgress) ask.progress(params);
    };
    this.#answer(ask.request, cancel, progress).then(
      (result) => {
        if (open) ask.answer(result);
        settle();
      },
      (error) => {
        if (open) ask.refuse(toFault(error));
        settle();
      },
    );
    return cancel;
  }

  async #answer(request: Request, cancel: Canceller, progress: (params: JsonObject) => void): Promise<JsonObject> {
    const handler = this.#handlers.get(request.method);
    if (handler === undefined) throw new Fault("unknown-method", `this client does not answer ${request.method}`);
    try {
      const result: unknown = await handler(withNumbers(request.params, "params"), askContext(cancel, progress));
      if (!isObject(result)) throw new TypeError(`the handler of ${request.method} returned no object`);
      return result;
    } catch (error) {
      // A Fault is the handler's answer. Anything else is a mistake in the handler, which its author wants to see.
      if (!(error instanceof Fault) && !cancel.fired) this.#report(toFault(error));
      throw error;
    }
  }
}

function askContext(cancel: Canceller, tell: (params: JsonObject) => void): AskContext {
  return {
    get signal(): AbortSignal {
      return cancel.signal;
    },
    progress: (progress, total, message) =>
      tell({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) }),
  };
}

function handlersOf(options: ClientOptions): Map<string, AskHandler> {
  const handlers = new Map<string, AskHandler>(Object.entries(options.asks ?? {}));
  const { elicit, sample, roots } = options;
  if (elicit !== undefined)
    handlers.set("elicitation/create", (params, context) => {
      if (params["mode"] === "url" && options.elicitUrl !== true)
        throw new Fault("invalid-params", "this client does not support elicitation by URL");
      return elicit(params as ElicitParams, context);
    });
  if (sample !== undefined)
    handlers.set("sampling/createMessage", (params, context) => {
      if (params["tools"] !== undefined && options.sampleTools !== true)
        throw new Fault("invalid-params", "this client does not support sampling with tools");
      return sample(params as SampleParams, context);
    });
  if (roots !== undefined) handlers.set("roots/list", async () => ({ roots: typeof roots === "function" ? await roots() : roots }));
  return handlers;
}
