import type { JsonObject } from "../../api/index.js";
import { isObject } from "../../core/index.js";

export interface Choice {
  readonly value: string;
  readonly title: string;
}

/** One question of a form. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly fallback: unknown;
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly choices: readonly Choice[];
  readonly schema: JsonObject;
}

export type FieldValue = { readonly value: unknown } | { readonly problem: string };

/** The fields of an elicitation's schema, in order. */
export function formFields(schema: JsonObject | undefined): FormField[] {
  const properties = isObject(schema?.["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = isObject(value) ? value : {};
    const choices = choicesOf(property);
    return {
      name,
      title: typeof property["title"] === "string" ? property["title"] : name,
      description: typeof property["description"] === "string" ? property["description"] : undefined,
      required: required.includes(name),
      fallback: property["default"],
      type: property["type"] === "array" ? "choices" : choices.length > 0 ? "choice" : plainType(property["type"]),
      choices,
      schema: property,
    };
  });
}

function plainType(type: unknown): FormField["type"] {
  return type === "number" || type === "integer" || type === "boolean" ? type : "string";
}

/** The choices of a field: with titles, without, or in the form of older servers. */
function choicesOf(property: JsonObject): Choice[] {
  const source = property["type"] === "array" && isObject(property["items"]) ? property["items"] : property;
  const titled = source["oneOf"] ?? source["anyOf"];
  if (Array.isArray(titled))
    return titled.filter(isObject).map((each) => ({ value: String(each["const"]), title: String(each["title"] ?? each["const"]) }));
  if (!Array.isArray(source["enum"])) return [];
  const names = Array.isArray(source["enumNames"]) ? source["enumNames"] : [];
  return source["enum"].map((value, at) => ({ value: String(value), title: String(names[at] ?? value) }));
}

/** The typed text as the field's value, or what is wrong with it. */
export function readField(field: FormField, text: string): FieldValue {
  const { schema } = field;
  switch (field.type) {
    case "boolean":
      if (/^(y|yes|true)$/i.test(text)) return { value: true };
      return /^(n|no|false)$/i.test(text) ? { value: false } : { problem: "answer yes or no" };
    case "number":
    case "integer": {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      if (!Number.isFinite(value)) return { problem: "a number, please" };
      if (field.type === "integer" && !Number.isSafeInteger(value)) return { problem: "a whole number, please" };
      return between(value, schema["minimum"], schema["maximum"], "") ?? { value };
    }
    case "choice": {
      const choice = choose(field, text);
      return choice === undefined ? { problem: "give one of the numbers or values above" } : { value: choice };
    }
    case "choices": {
      const picked = text.split(",").map((each) => choose(field, each.trim()));
      if (picked.includes(undefined)) return { problem: "give numbers or values from above, with commas between" };
      return between(picked.length, schema["minItems"], schema["maxItems"], "as many as ") ?? { value: [...new Set(picked)] };
    }
    default:
      return between([...text].length, schema["minLength"], schema["maxLength"], "characters: ") ?? formatted(schema["format"], text);
  }
}

function choose({ choices }: FormField, text: string): string | undefined {
  return choices.find(({ value, title }) => value === text || title === text)?.value ?? choices[Number(text) - 1]?.value;
}

function between(amount: number, least: unknown, most: unknown, what: string): { readonly problem: string } | undefined {
  if (typeof least === "number" && amount < least) return { problem: `${what}${least} at least` };
  if (typeof most === "number" && amount > most) return { problem: `${what}${most} at most` };
  return undefined;
}

const formats: Readonly<Record<string, { readonly fits: (text: string) => boolean; readonly example: string }>> = {
  email: { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), example: "name@example.com" },
  uri: { fits: (text) => URL.canParse(text), example: "https://example.com/" },
  date: { fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), example: "2026-07-28" },
  "date-time": { fits: (text) => /^\d{4}-\d\d-\d\dT.+/.test(text) && !Number.isNaN(Date.parse(text)), example: "2026-07-28T12:00:00Z" },
};

function formatted(format: unknown, text: string): FieldValue {
  const known = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
  return known === undefined || known.fits(text) ? { value: text } : { problem: `such as ${known.example}` };
}
