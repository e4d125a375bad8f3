import { cachedJson } from "../cached-json.js";
import { Fault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import type { GetPromptResult, Prompt, PromptMessage } from "../protocol.js";
import type { Context, Reply, Request } from "../service.js";
import type { Complete } from "./completion.js";
import { type HandlerContext, Handling } from "./context.js";
import type { OpenList } from "./listing.js";
import { type Awaitable, type Handled, runHandler } from "./run.js";
import type { Source } from "./source.js";

export interface PromptArgumentOptions {
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Complete;
}
export type PromptArguments = { readonly [name: string]: PromptArgumentOptions };

/** The arguments for the handler: a string for each required one, a string or undefined for the others. */
export type PromptArgs<A extends PromptArguments> = {
  readonly [N in keyof A]: A[N] extends { readonly required: true } ? string : string | undefined;
};

/** What a prompt may return: the user's text, messages, or a whole result. */
export type PromptResult =
  | string
  | readonly PromptMessage[]
  | GetPromptResult
  | { readonly resultType: string; readonly [member: string]: unknown };

export type PromptHandler<A extends PromptArguments = PromptArguments> = (
  args: PromptArgs<A>,
  ctx: HandlerContext,
) => Handled<PromptResult>;

export interface PromptOptions<A extends PromptArguments = PromptArguments> {
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: A & PromptArguments;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** Prompts made when they are asked for. */
export interface PromptCatalogue {
  list(ctx: HandlerContext): Awaitable<Source<Prompt>>;
  /** Undefined if there is no such prompt. */
  get(name: string, args: Readonly<Record<string, string>>, ctx: HandlerContext): Handled<PromptResult | undefined>;
}

interface Entry {
  readonly prompt: Prompt;
  readonly handler: (args: never, ctx: HandlerContext) => unknown;
  readonly complete: ReadonlyMap<string, Complete>;
}

export class Prompts {
  readonly #entries = new Map<string, Entry>();
  readonly #catalogues: PromptCatalogue[] = [];
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get any(): boolean {
    return this.#entries.size > 0 || this.#catalogues.length > 0;
  }
  get completes(): boolean {
    for (const { complete } of this.#entries.values()) if (complete.size > 0) return true;
    return false;
  }

  add<const A extends PromptArguments>(name: string, options: PromptOptions<A>, handler: PromptHandler<A>): void {
    if (this.#entries.has(name)) throw new Fault("invalid-params", `a prompt named ${name} is already registered`);
    const { arguments: args, ...rest } = options;
    const complete = new Map<string, Complete>();
    const listed = Object.entries(args ?? {}).map(([argument, { complete: function_, ...published }]) => {
      if (function_ !== undefined) complete.set(argument, function_);
      return { name: argument, ...published };
    });
    const prompt: Prompt = cachedJson({ name, ...rest, ...(args === undefined ? {} : { arguments: listed }) });
    this.#entries.set(name, { prompt, handler, complete });
  }

  addCatalogue(catalogue: PromptCatalogue): void {
    this.#catalogues.push(catalogue);
  }

  sources(ctx: HandlerContext): OpenList[] {
    return [() => registered(this.#entries.values()), ...this.#catalogues.map((catalogue) => () => catalogue.list(ctx))];
  }

  completion(name: string): ReadonlyMap<string, Complete> | undefined {
    return this.#entries.get(name)?.complete;
  }

  get(request: Request, context: Context): AsyncIterator<Reply, JsonObject, undefined> {
    const { name, arguments: given = {} } = request.params;
    if (typeof name !== "string") throw new Fault("invalid-params", "params.name: must be a string");
    const args = strings(given);
    const ctx = new Handling(context, request);
    const entry = this.#entries.get(name);
    return runHandler(
      {
        start: () => {
          if (entry === undefined) return this.#catalogues.length > 0 ? this.#catalogued(name, args, ctx) : undefined;
          for (const { name: argument, required } of entry.prompt.arguments ?? []) {
            if (required === true && !Object.hasOwn(args, argument))
              throw new Fault("invalid-params", `arguments.${argument}: is required`);
          }
          return entry.handler(args as never, ctx);
        },
        end: (result) => {
          if (result === undefined && entry === undefined) throw new Fault("invalid-params", `unknown prompt: ${name}`, { data: { name } });
          return present(result, entry?.prompt.description);
        },
        fail: (error) => {
          this.#report(error);
          throw error;
        },
      },
      context,
    );
  }

  async #catalogued(name: string, args: Readonly<Record<string, string>>, ctx: HandlerContext): Promise<unknown> {
    for (const catalogue of this.#catalogues) {
      const given = await catalogue.get(name, args, ctx);
      if (given !== undefined) return given;
    }
    return undefined;
  }
}

function* registered(entries: Iterable<Entry>): Generator<Prompt> {
  for (const { prompt } of entries) yield prompt;
}

function strings(given: unknown): Readonly<Record<string, string>> {
  if (!isObject(given)) throw new Fault("invalid-params", "arguments: must be object");
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") throw new Fault("invalid-params", `arguments.${name}: must be string`);
  }
  return given as Readonly<Record<string, string>>;
}

function present(result: unknown, description: string | undefined): JsonObject {
  const about = description === undefined ? {} : { description };
  if (typeof result === "string") return { ...about, messages: [{ role: "user", content: { type: "text", text: result } }] };
  if (Array.isArray(result)) return { ...about, messages: result };
  if (!isObject(result)) throw new Fault("internal", "a prompt returned something that is not a result");
  return result;
}
