import { type Cancel, Canceller } from "../cancel.js";
import { withNumbers } from "../exact.js";
import { Fault, toFault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import { neededCapability } from "../methods.js";
import type { ElicitParams, ElicitResult, RootsResult, SampleParams, SampleResult } from "../protocol.js";
import type { Ask, AskReply, Context, Request } from "../service.js";
import { declaresAt } from "./context.js";

export interface AskOptions {
  /** Called with the progress of the answer. */
  readonly onProgress?: (params: JsonObject) => void;
}

/** Use with `yield*`: asks the client and returns the answer. Throws the Fault if the question is refused. */
export type Asking<R> = AsyncGenerator<Question, R, undefined>;

const noop = (): void => {};

/** Something to ask. The server turns it into an ask of its call; the handler that yielded it then waits for the answer. */
export class Question {
  readonly kind = "question";
  readonly request: Request;
  readonly answered: Promise<JsonObject>;
  readonly #onProgress: AskOptions["onProgress"];
  readonly #cancel = new Canceller();
  #resolve: (result: JsonObject) => void = noop;
  #reject: (fault: Fault) => void = noop;
  #unhook: () => void = noop;
  #state: "new" | "open" | "settled" = "new";

  constructor(request: Request, options: AskOptions = {}) {
    this.request = request;
    this.#onProgress = options.onProgress;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A question that was withdrawn before anyone waited must not count as an unhandled rejection.
    this.answered.catch(noop);
  }

  /** The ask to send. Undefined if the client cannot be asked: then the question is refused. */
  open(key: string, context: Context): AskReply | undefined {
    if (this.#state !== "new") throw new Fault("internal", "a question was asked twice");
    const { method, params } = this.request;
    const needed = neededCapability(method, params);
    if (needed !== undefined && !meets(context.client.capabilities, needed)) {
      const names = Object.keys(needed).join(", ");
      this.#settle();
      this.#reject(
        new Fault("missing-capability", `the client cannot be asked ${method}: it did not declare ${names}`, {
          data: { requiredCapabilities: needed },
        }),
      );
      return undefined;
    }
    this.#state = "open";
    this.#unhook = context.cancel.on(() => this.withdraw(context.cancel.reason));
    return { kind: "ask", ask: this.#ask(key) };
  }

  /** Ends the question, if it is still unanswered. The client is told that no answer is wanted any more. */
  withdraw(reason: Fault = new Fault("cancelled", "the question was withdrawn")): void {
    if (this.#settle()) {
      this.#reject(reason);
      this.#cancel.fire(reason);
    }
  }

  #ask(key: string): Ask {
    const onProgress = this.#onProgress;
    const cancel: Cancel = this.#cancel;
    return {
      key,
      request: this.request,
      origin: "stated",
      cancel,
      answer: (result) => {
        if (!this.#settle()) return;
        try {
          this.#resolve(withNumbers(result, "result"));
        } catch (error) {
          this.#reject(toFault(error));
        }
      },
      refuse: (fault) => {
        if (this.#settle()) this.#reject(fault);
      },
      progress: (params) => {
        if (this.#state !== "open") return;
        try {
          onProgress?.(withNumbers(params, "params"));
        } catch (error) {
          // The mistake is in the asker's callback, so the asker gets the error, not the edge that reported progress.
          this.withdraw(toFault(error));
        }
      },
      wantsProgress: onProgress !== undefined,
    };
  }

  /** True for the first call only. */
  #settle(): boolean {
    if (this.#state === "settled") return false;
    this.#state = "settled";
    this.#unhook();
    return true;
  }
}

function meets(capabilities: JsonObject, needed: JsonObject): boolean {
  return Object.entries(needed).every(([name, inner]) => {
    const modes = isObject(inner) ? Object.keys(inner) : [];
    if (name === "elicitation" && modes.length === 0) return declaresAt(capabilities, ["elicitation", "form"]);
    return declaresAt(capabilities, [name]) && modes.every((mode) => declaresAt(capabilities, [name, mode]));
  });
}

/** Asks the client anything. */
export async function* ask<R extends JsonObject = JsonObject>(method: string, params: JsonObject = {}, options?: AskOptions): Asking<R> {
  const question = new Question({ method, params }, options);
  try {
    yield question;
    return (await question.answered) as R;
  } finally {
    question.withdraw();
  }
}

/** Asks the user, by a form or at a URL. Declining is an answer, not a Fault. */
export function elicit(params: ElicitParams, options?: AskOptions): Asking<ElicitResult> {
  return ask<ElicitResult>("elicitation/create", params, options);
}

/** Asks the client's model. */
export function sample(params: SampleParams, options?: AskOptions): Asking<SampleResult> {
  return ask<SampleResult>("sampling/createMessage", params, options);
}

/** Asks for the client's roots. */
export function roots(options?: AskOptions): Asking<RootsResult> {
  return ask<RootsResult>("roots/list", {}, options);
}

type Answers<T extends readonly Asking<unknown>[]> = { -readonly [I in keyof T]: T[I] extends Asking<infer R> ? R : never };

/** Asks several questions at once and returns their answers in order. The first refusal withdraws the others and is thrown. */
export async function* askAll<const T extends readonly Asking<unknown>[]>(asks: T): Asking<Answers<T>> {
  const opened: Question[] = [];
  try {
    for (const asking of asks) {
      const step = await asking.next();
      if (step.done === true) throw new Fault("internal", "askAll takes asks that were not begun");
      opened.push(step.value);
      yield step.value;
    }
    return (await Promise.all(asks.map(async (asking) => (await asking.next()).value))) as Answers<T>;
  } finally {
    for (const question of opened) question.withdraw();
  }
}
