import { isObject, redactText } from "../../core/index.js";

const secretName = /pass(word|wd|phrase)|secret|token|authorization|credential|cookie|api[-_]?key|private[-_]?key|^auth$/i;
/** Names that end like a secret's and hold none. */
const harmless = /^(progressToken|maxTokens|tokens?Count|inputTokens|outputTokens)$/;
/** What a schema says of a property without saying its value. */
const aboutProperty: ReadonlySet<string> = new Set(["type", "title", "description", "format", "minLength", "maxLength", "writeOnly"]);
const hidden = "[redacted]";

/** A copy of a JSON value to be logged: without what looks like a secret, by its name or by itself. `holder` is the member that it is. */
export function redact(value: unknown, holder?: string): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map((each) => redact(each));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!secretName.test(name) || harmless.test(name)) return [name, redact(member, name)];
      return [name, holder === "properties" && isObject(member) ? described(member) : hidden];
    }),
  );
}

/** The schema of a secret property: a tool stays readable, and a value that stands in it does not show. */
function described(schema: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, aboutProperty.has(name) && !isObject(member) ? redact(member) : hidden]),
  );
}
