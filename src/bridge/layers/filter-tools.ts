import { Fault, failing, glob, jsonText, type Layer, type Replies, type Reply } from "../../core/index.js";
import { overtime } from "../../stream/index.js";
import { lookalike } from "./lookalikes.js";

/**
 * The tools that clients see and may call, by globs over their names: `*` is any text, `?` any character, `{a,b}` either. A glob that
 * begins with `(?i)` takes letters of either case.
 */
export interface ToolFilter {
  /** Only these tools; all of them unless given. */
  readonly allow?: readonly string[] | undefined;
  /** Not these tools, even if they are allowed. */
  readonly deny?: readonly string[] | undefined;
}

/** Hides tools from lists, which still stream, and refuses calls of them. */
export function filterTools({ allow, deny = [] }: ToolFilter): Layer {
  const allowed = allow?.map(nameGlob);
  const denied = deny.map(nameGlob);
  const passes = (name: unknown): boolean =>
    typeof name === "string" && allowed?.some((matches) => matches(name)) !== false && !denied.some((matches) => matches(name));
  return (inner) => ({
    call(request, context) {
      const disguised = lookalike(request);
      if (disguised !== undefined) return failing(disguised);
      if (request.method === "tools/list") return without(inner.call(request, context), ({ value }) => !passes(value["name"]));
      const { name } = request.params;
      if (request.method === "tools/call" && !passes(name)) return failing(notOffered(name));
      return inner.call(request, context);
    },
    async notify(notification, context) {
      const disguised = lookalike(notification);
      if (disguised !== undefined) throw disguised;
      return inner.notify(notification, context);
    },
  });
}

function notOffered(name: unknown): Fault {
  if (name === undefined) return new Fault("invalid-params", "the call names no tool");
  return new Fault("invalid-params", `the tool ${jsonText(name)} is not offered here: the bridge does not allow it`);
}

/** What makes a glob take letters of either case, as in the regular expressions of other languages. */
const ANY_CASE = "(?i)";

/** In tool names a slash is an ordinary character. In URIs, which globs are made for, it is not. */
function nameGlob(pattern: string): (name: string) => boolean {
  if (pattern.startsWith(ANY_CASE)) {
    const compiled = nameGlob(pattern.slice(ANY_CASE.length).toLowerCase());
    return (name) => compiled(name.toLowerCase());
  }
  const compiled = glob(pattern.replaceAll("/", "\0"));
  return (name) => compiled.matches(name.replaceAll("/", "\0"));
}

function without(inner: Replies, hidden: (item: Extract<Reply, { kind: "item" }>) => boolean): Replies {
  const replies: Replies = {
    async next() {
      for (let round = 1; ; round++) {
        const step = await inner.next();
        if (step.done === true || step.value.kind !== "item" || !hidden(step.value)) return step;
        const rest = overtime(round);
        if (rest !== undefined) await rest;
      }
    },
    return: () => inner.return(),
    [Symbol.asyncIterator]: () => replies,
  };
  return replies;
}
