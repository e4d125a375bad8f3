import { Fault } from "../fault.js";
import { isObject } from "../json.js";
import type { CompleteResult, CompletionRef } from "../protocol.js";
import type { Context, Request } from "../service.js";
import { type CompleteContext, Completing } from "./context.js";
import type { Awaitable } from "./run.js";
import { isSource, pull, type Source } from "./source.js";

/** The completions of a value: all that match, in any kind of sequence, or a result in the protocol's form. */
export type Completions = Source<string> | CompleteResult["completion"];
export type Complete = (value: string, ctx: CompleteContext) => Awaitable<Completions>;

/** Completes what no prompt or template completes. Undefined if it does not either. */
export type CompleteAny = (
  ref: CompletionRef,
  argument: { readonly name: string; readonly value: string },
  ctx: CompleteContext,
) => Awaitable<Completions | undefined>;

/** The completion functions of a prompt or template, by argument. Undefined if there is no such prompt or template. */
export type FindCompletes = (ref: CompletionRef) => ReadonlyMap<string, Complete> | undefined;

/** The protocol's limit on the values of one completion. */
const most = 100;

export async function complete(
  request: Request,
  context: Context,
  find: FindCompletes,
  fallbacks: readonly CompleteAny[],
): Promise<CompleteResult> {
  const { ref, argument, context: around } = request.params;
  if (!isRef(ref)) throw new Fault("invalid-params", "params.ref: must be a reference to a prompt or a resource template");
  if (!isArgument(argument)) throw new Fault("invalid-params", "params.argument: must have a name and a value");
  const others = isObject(around) && isObject(around["arguments"]) ? (around["arguments"] as Record<string, string>) : {};
  const ctx = new Completing(context, request, others);
  const completes = find(ref);
  const own = completes?.get(argument.name);
  if (own !== undefined) return { completion: await cut(await own(argument.value, ctx), context) };
  for (const fallback of fallbacks) {
    const given = await fallback(ref, argument, ctx);
    if (given !== undefined) return { completion: await cut(given, context) };
  }
  if (completes === undefined)
    throw new Fault("invalid-params", `nothing to complete: ${ref.type === "ref/prompt" ? ref.name : ref.uri}`, { data: { ref } });
  return { completion: { values: [], total: 0, hasMore: false } };
}

/** Cuts the values at the limit. Of a longer sequence, only one value beyond the limit is made. */
async function cut(given: Completions, context: Context): Promise<CompleteResult["completion"]> {
  if (Array.isArray(given)) return { values: given.slice(0, most), total: given.length, hasMore: given.length > most };
  if (!isSource(given)) {
    const { values } = given;
    return values.length > most ? { ...given, values: values.slice(0, most), total: given.total ?? values.length, hasMore: true } : given;
  }
  const values: string[] = [];
  const pulled = pull(given, context.cancel);
  try {
    for (;;) {
      const step = await pulled.next();
      if (step.done === true) return { values, total: values.length, hasMore: false };
      if (values.length === most) return { values, hasMore: true };
      values.push(step.value);
    }
  } finally {
    pulled.close();
  }
}

function isRef(value: unknown): value is CompletionRef {
  return isObject(value) && typeof value["type"] === "string";
}

function isArgument(value: unknown): value is { readonly name: string; readonly value: string } {
  return isObject(value) && typeof value["name"] === "string" && typeof value["value"] === "string";
}
