import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import { meta } from "../methods.js";
import type { CompletionRef, DiscoverResult } from "../protocol.js";
import { failing, guard, once, type Produce } from "../replies.js";
import { AMBIENT, type Context, type Replies, type Request } from "../service.js";
import { legacyVersions, modernVersions } from "../versions.js";
import type { ChangeListeners, Feature } from "./changes.js";
import { type CompleteAny, complete } from "./completion.js";
import { type HandlerContext, Handling } from "./context.js";
import { listing, type OpenList } from "./listing.js";
import type { Prompts } from "./prompts.js";
import type { Resources } from "./resources.js";
import { runHandler } from "./run.js";
import type { Tools } from "./tools.js";
import type { MethodHandler, ServerOptions } from "./types.js";

export type AnswerMethod = (request: Request, context: Context) => Replies;

/** What a server is made of. */
export interface Parts {
  readonly options: ServerOptions;
  readonly tools: Tools;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly completions: readonly CompleteAny[];
  readonly changes: ChangeListeners;
  /** Takes what a handler threw. A Fault is the handler's answer and is not reported. */
  readonly report: (error: unknown) => void;
}

export function unknownMethod(method: string): Fault {
  return new Fault("unknown-method", `unknown method: ${method}`);
}

/** The protocol's methods, each answered from the server's parts. A feature without any entry is absent. */
export function methodAnswers(parts: Parts): Map<string, AnswerMethod> {
  const { tools, resources, prompts, changes, report } = parts;
  const { ttlMs, cacheScope } = parts.options;
  const cache: JsonObject = { ...(ttlMs === undefined ? {} : { ttlMs }), ...(cacheScope === undefined ? {} : { cacheScope }) };
  const has = (feature: Feature): boolean => parts[feature].any;

  type Steps = (request: Request, context: Context) => ReturnType<Produce>;
  const of =
    (feature: Feature, steps: Steps): AnswerMethod =>
    (request, context) =>
      has(feature) ? guard((inner) => steps(request, inner), context) : failing(unknownMethod(request.method));
  const list = (feature: Feature, sources: (ctx: HandlerContext) => readonly OpenList[]): AnswerMethod =>
    of(feature, (request, context) => listing({ request, context, sources: sources(new Handling(context, request)), rest: cache, report }));
  const find = (ref: CompletionRef): ReturnType<Prompts["completion"]> =>
    ref.type === "ref/prompt" ? prompts.completion(ref.name ?? "") : resources.completion(ref.uri ?? "");

  return new Map<string, AnswerMethod>([
    ["ping", (_, context) => once(context, () => ({}))],
    ["server/discover", (_, context) => once(context, () => ({ ...discover(parts), ...cache }))],
    ["tools/list", list("tools", (ctx) => tools.sources(ctx))],
    ["tools/call", of("tools", (request, context) => tools.call(request, context))],
    ["resources/list", list("resources", (ctx) => resources.sources(ctx))],
    ["resources/templates/list", list("resources", (ctx) => resources.templateSources(ctx))],
    ["resources/read", of("resources", (request, context) => resources.read(request, context, cache))],
    ["prompts/list", list("prompts", (ctx) => prompts.sources(ctx))],
    ["prompts/get", of("prompts", (request, context) => prompts.get(request, context))],
    [
      "completion/complete",
      (request, context) => {
        if (!completes(parts)) return failing(unknownMethod(request.method));
        return once(context, (inner) => complete(request, inner, find, parts.completions).catch(passing(report)));
      },
    ],
    ["subscriptions/listen", (request, context) => guard(() => changes.listen(request, has), context)],
    [AMBIENT, (_, context) => guard((inner) => changes.ambient(inner), context)],
  ]);
}

/** A method of the user's own. */
export function custom(handler: MethodHandler, report: (error: unknown) => void): AnswerMethod {
  return (request, context) =>
    guard(
      (inner) =>
        runHandler(
          {
            start: () => handler(request.params, new Handling(inner, request)),
            end: (result) => (result ?? {}) as JsonObject,
            fail: passing(report),
          },
          inner,
        ),
      context,
    );
}

/** Reports what was thrown, and rethrows it. */
function passing(report: (error: unknown) => void): (error: unknown) => never {
  return (error) => {
    report(error);
    throw error;
  };
}

function completes({ prompts, resources, completions }: Parts): boolean {
  return prompts.completes || resources.completes || completions.length > 0;
}

function discover(parts: Parts): DiscoverResult {
  const { instructions, capabilities, ttlMs: _, cacheScope: __, ...info } = parts.options;
  const derived: Record<string, unknown> = { logging: {} };
  if (parts.tools.any) derived["tools"] = { listChanged: true };
  if (parts.prompts.any) derived["prompts"] = { listChanged: true };
  if (parts.resources.any) derived["resources"] = { listChanged: true, subscribe: true };
  if (completes(parts)) derived["completions"] = {};
  return {
    supportedVersions: [...modernVersions, ...legacyVersions],
    capabilities: { ...derived, ...capabilities },
    ...(instructions === undefined ? {} : { instructions }),
    _meta: { [meta.serverInfo]: info },
  };
}
