import { ExactNumber, isObject } from "../../core/index.js";

const secretName = /pass(word|wd|phrase)|secret|token|authorization|credential|cookie|api[-_]?key|private[-_]?key|^auth$/i;
/** Names that end like a secret's and hold none. */
const harmless = /^(progressToken|maxTokens|tokens?Count|inputTokens|outputTokens)$/;
const hidden = "[redacted]";

/** A copy of a JSON value to be logged: without what looks like a secret, by its name or by itself. */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redact);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretName.test(name) && !harmless.test(name) && holds(member) ? hidden : redact(member),
    ]),
  );
}

/** Where only the name suggests it, an object is looked into and a schema stays readable. */
function holds(member: unknown): boolean {
  return typeof member === "string" || typeof member === "number" || member instanceof ExactNumber || Array.isArray(member);
}

/** The same for text: credentials after their scheme, in a URL, and assigned to a name. */
export function redactText(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${hidden}`)
    .replace(/(:\/\/)[^/\s:@]+:[^/\s@]+@/g, `$1${hidden}@`)
    .replace(/\b([\w-]*(?:token|secret|password|api[-_]?key)[\w-]*)=[^&\s"']+/gi, `$1=${hidden}`);
}
