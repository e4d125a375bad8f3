import { cachedJson } from "../cached-json.js";
import { Fault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import { isMessage } from "../message-tools.js";
import type { CallToolResult, ContentBlock, Tool, ToolAnnotations } from "../protocol.js";
import type { Context, Reply, Request } from "../service.js";
import type { Checked, ValueCheck } from "./check.js";
import { type HandlerContext, Handling } from "./context.js";
import { jsonSchemaCheck } from "./json-schema.js";
import type { OpenList } from "./listing.js";
import { type Awaitable, type Handled, runHandler } from "./run.js";
import { checker, published } from "./schema.js";
import type { Source } from "./source.js";
import type { Schema } from "./standard.js";
import { badResult, checkRegistration } from "./tool-mistakes.js";

/**
 * What a tool may return: text, a list of texts and content blocks, or a result. A result without content gets it from `structuredContent`.
 */
export type ToolResult<S = unknown> =
  | string
  | readonly (string | ContentBlock)[]
  | CallToolResult
  | { readonly resultType: string; readonly [member: string]: unknown }
  // This member comes last because the compiler names the last one when an object matches none of them.
  | {
      readonly structuredContent: S;
      readonly content?: readonly ContentBlock[];
      readonly isError?: boolean;
      readonly _meta?: JsonObject;
      readonly [member: string]: unknown;
    };

export type ToolHandler<A = JsonObject, S = unknown> = (args: A, ctx: HandlerContext) => Handled<ToolResult<S>>;

export interface ToolOptions<I extends Schema = JsonObject, O extends Schema = JsonObject> {
  readonly title?: string;
  readonly description?: string;
  /** Checks the arguments before the handler runs. Without it any object is accepted. */
  readonly input?: I;
  /** The JSON Schema to publish for `input`, if its library makes none. */
  readonly inputSchema?: JsonObject;
  /** Checks `structuredContent`. */
  readonly output?: O;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** Tools made when they are asked for. */
export interface ToolCatalogue {
  list(ctx: HandlerContext): Awaitable<Source<Tool>>;
  /** If given, arguments and structured content are checked. Return the same schema objects each time: each object is compiled once. */
  find?(name: string, ctx: HandlerContext): Awaitable<Tool | undefined>;
  /** Undefined if there is no such tool. */
  call(name: string, args: JsonObject, ctx: HandlerContext): Handled<ToolResult | undefined>;
}

/** A handler of whatever arguments its tool takes. */
export type AnyToolHandler = (args: never, ctx: HandlerContext) => unknown;
interface Entry {
  readonly tool: Tool;
  readonly input: ValueCheck;
  readonly output: ValueCheck | undefined;
  readonly handler: AnyToolHandler;
  /** Whether it may take messages of protobuf. */
  readonly messages: boolean;
}
/** A tool found for one call. */
type Found = Omit<Entry, "tool" | "input"> & { readonly input: ValueCheck | undefined };

const anyObject: JsonObject = { type: "object" };
const checkObject: ValueCheck = (value, root) => (isObject(value) ? { value } : { problem: `${root}: must be object` });

export class Tools {
  readonly #entries = new Map<string, Entry>();
  readonly #catalogues: ToolCatalogue[] = [];
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get any(): boolean {
    return this.#entries.size > 0 || this.#catalogues.length > 0;
  }

  add(name: string, options: ToolOptions<Schema, Schema>, handler: AnyToolHandler | undefined, messages = false): void {
    if (this.#entries.has(name)) throw new Fault("invalid-params", `a tool named ${name} is there already`);
    checkRegistration(name, options, handler);
    const { input, output, inputSchema, outputSchema, ...rest } = options;
    const owner = `tool ${name}`;
    const takes = input === undefined ? (inputSchema ?? anyObject) : published(input, inputSchema, "input", owner);
    if ((takes["type"] ?? "object") !== "object") throw new Fault("invalid-params", `${owner}: its input has to be an object`);
    const gives = output === undefined ? outputSchema : published(output, outputSchema, "output", owner);
    this.#entries.set(name, {
      tool: cachedJson({
        name,
        ...rest,
        inputSchema: { type: "object", ...takes },
        ...(gives === undefined ? {} : { outputSchema: gives }),
      }),
      input: takes === anyObject ? checkObject : checker(input ?? takes),
      output: gives === undefined ? undefined : checker(output ?? gives),
      handler,
      messages,
    });
  }

  addCatalogue(catalogue: ToolCatalogue): void {
    this.#catalogues.push(catalogue);
  }

  sources(ctx: HandlerContext): OpenList[] {
    return [() => registered(this.#entries.values()), ...this.#catalogues.map((catalogue) => () => catalogue.list(ctx))];
  }

  call(request: Request, context: Context): AsyncIterator<Reply, JsonObject, undefined> {
    const { name, arguments: args = {} } = request.params;
    if (typeof name !== "string") throw new Fault("invalid-params", "params.name: must be a string");
    const ctx = new Handling(context, request);
    let output: ValueCheck | undefined;
    const invoke = (found: Found): unknown => {
      output = found.output;
      if (!found.messages && isMessage(args)) return failure(`${INVALID_ARGUMENTS}arguments: ${args["@type"]}, and the tool takes JSON`);
      const checked = (found.input ?? checkObject)(args, "arguments");
      if (checked instanceof Promise) return checked.then((late) => enter(late, found.handler, ctx));
      return enter(checked, found.handler, ctx);
    };
    return runHandler(
      {
        start: () => {
          const entry = this.#entries.get(name);
          return entry === undefined ? this.#find(name, ctx).then(invoke) : invoke(entry);
        },
        end: (result) => {
          if (result === undefined && !this.#entries.has(name)) throw unknownTool(name);
          return present(name, result, output);
        },
        fail: (error) => {
          if (error instanceof Fault) throw error;
          this.#report(error);
          return failure(error instanceof Error ? error.message : String(error));
        },
      },
      context,
    );
  }

  /** The first catalogue that has the tool, or that has to be tried because it has no `find`. */
  async #find(name: string, ctx: HandlerContext): Promise<Found> {
    for (const catalogue of this.#catalogues) {
      const handler = (args: JsonObject): unknown => catalogue.call(name, args, ctx);
      if (catalogue.find === undefined) return { input: undefined, output: undefined, handler, messages: true };
      const tool = await catalogue.find(name, ctx);
      if (tool === undefined) continue;
      const { inputSchema, outputSchema } = tool;
      return { input: jsonSchemaCheck(inputSchema), output: outputSchema && jsonSchemaCheck(outputSchema), handler, messages: true };
    }
    throw unknownTool(name);
  }
}

function* registered(entries: Iterable<Entry>): Generator<Tool> {
  for (const { tool } of entries) yield tool;
}

function unknownTool(name: string): Fault {
  return new Fault("invalid-params", `unknown tool: ${name}`, { data: { name } });
}

function enter(checked: Checked, handler: AnyToolHandler, ctx: HandlerContext): unknown {
  if ("problem" in checked) return failure(`${INVALID_ARGUMENTS}${checked.problem}`);
  // The caller may have left while the arguments were checked.
  if (ctx.cancel.fired) throw ctx.cancel.reason;
  return handler(checked.value as never, ctx);
}

/** How the text of a result begins if the tool did not run because of its arguments. */
export const INVALID_ARGUMENTS = "invalid arguments\n";

function failure(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

/** An object with none of these members was not meant as a result. */
const resultMembers = ["content", "structuredContent", "resultType", "isError", "_meta"] as const;

const text = (of: string): JsonObject => ({ type: "text", text: of });

function block(name: string, item: unknown, result: unknown): JsonObject {
  if (typeof item === "string") return text(item);
  if (isObject(item) && typeof item["type"] === "string") return item;
  throw badResult(name, result);
}

/** A handler's result in the protocol's form. */
function present(name: string, result: unknown, output: ValueCheck | undefined): Awaitable<JsonObject> {
  if (typeof result === "string") return complete({ content: [text(result)] }, undefined, output);
  if (Array.isArray(result)) return complete({ content: result.map((item) => block(name, item, result)) }, undefined, output);
  if (!isObject(result) || !resultMembers.some((member) => member in result)) throw badResult(name, result);
  if ((result["resultType"] ?? "complete") !== "complete") return result;
  return complete(result, result["structuredContent"], output);
}

function complete(result: JsonObject, structured: unknown, output: ValueCheck | undefined): Awaitable<JsonObject> {
  if (output === undefined || result["isError"] === true) return filled(result, structured);
  const settle = (checked: Checked): JsonObject =>
    "problem" in checked ? failure(`the tool broke its output schema\n${checked.problem}`) : filled(result, checked.value);
  const checked = output(structured, "structuredContent");
  return checked instanceof Promise ? checked.then(settle) : settle(checked);
}

function filled(result: JsonObject, structured: unknown): JsonObject {
  if (structured === undefined) return result["content"] === undefined ? { ...result, content: [] } : result;
  const content = result["content"] ?? [{ type: "text", text: JSON.stringify(structured) }];
  return { ...result, content, structuredContent: structured };
}
