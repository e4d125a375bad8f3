import type { Cancel } from "../cancel.js";
import { isObject, type JsonObject } from "../json.js";
import type { Client, Context, Range, Request } from "../service.js";
import type { TemplateVariables } from "../uri-template.js";

/** What a handler knows about its call. */
export interface HandlerContext {
  readonly client: Client;
  readonly request: Request;
  /** Fires when the caller has left or cancelled. */
  readonly cancel: Cancel;
  /** The same as an AbortSignal for other APIs; made on first use. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  readonly metadata: Context["metadata"];
  readonly trace: Context["trace"];
  /** Whether anyone receives progress. */
  readonly wantsProgress: boolean;
  /** Whether the client declared a capability, by path: `sampling`, `elicitation.url`, `extensions.vendor/x`. */
  can(capability: string): boolean;
}

export interface ReadContext extends HandlerContext {
  /** The part of the resource that the client wants. A reader that seeks to it says so with `offset`. */
  readonly range: Range | undefined;
}

export interface TemplateContext extends ReadContext {
  readonly variables: TemplateVariables;
}

export interface CompleteContext extends HandlerContext {
  /** The other arguments, as far as they are known. */
  readonly arguments: Readonly<Record<string, string>>;
}

const none: TemplateVariables = Object.freeze(Object.create(null));

export class Handling implements TemplateContext {
  readonly context: Context;
  readonly request: Request;
  readonly variables: TemplateVariables;

  constructor(context: Context, request: Request, variables: TemplateVariables = none) {
    this.context = context;
    this.request = request;
    this.variables = variables;
  }

  get client(): Client {
    return this.context.client;
  }
  get cancel(): Cancel {
    return this.context.cancel;
  }
  get signal(): AbortSignal {
    return this.context.cancel.signal;
  }
  get deadline(): number | undefined {
    return this.context.deadline;
  }
  get metadata(): Context["metadata"] {
    return this.context.metadata;
  }
  get trace(): Context["trace"] {
    return this.context.trace;
  }
  get wantsProgress(): boolean {
    return this.context.progress;
  }
  get range(): Range | undefined {
    return this.context.range;
  }
  can(capability: string): boolean {
    return declaresAt(this.context.client.capabilities, capability.split("."));
  }
}

export class Completing extends Handling implements CompleteContext {
  readonly arguments: Readonly<Record<string, string>>;

  constructor(context: Context, request: Request, others: Readonly<Record<string, string>>) {
    super(context, request);
    this.arguments = others;
  }
}

/** Whether `path` leads to a member that exists and is not false. */
export function declaresAt(capabilities: JsonObject, path: readonly string[]): boolean {
  // Forms existed before modes had names, so a capability that names no mode means forms.
  if (path.length === 2 && path[0] === "elicitation" && path[1] === "form") {
    const modes = member(capabilities, "elicitation");
    return isObject(modes) && (member(modes, "form") !== undefined || member(modes, "url") === undefined);
  }
  let value: unknown = capabilities;
  for (const name of path) value = isObject(value) ? member(value, name) : undefined;
  return value !== undefined && value !== null && value !== false;
}

function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
