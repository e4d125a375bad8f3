import { isObject, redactText } from "../../core/index.js";

const secretName = /pass(word|wd|phrase)|secret|token|authorization|credential|cookie|api[-_]?key|private[-_]?key|^auth$/i;
/** Names that end like a secret's, but hold none. */
const harmless = /^(progressToken|maxTokens|tokens?Count|inputTokens|outputTokens)$/;
/** Keywords that describe a property without its value. */
const aboutProperty: ReadonlySet<string> = new Set(["type", "title", "description", "format", "minLength", "maxLength", "writeOnly"]);
const hidden = "[redacted]";

/** A copy of a JSON value for a log, without what looks like a secret, by name or by content. `holder` is the name of the member. */
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

/** The schema of a secret property: the tool stays readable, but values in the schema are hidden. */
function described(schema: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, aboutProperty.has(name) && !isObject(member) ? redact(member) : hidden]),
  );
}
