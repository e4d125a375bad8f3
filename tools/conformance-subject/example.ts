import type { JsonObject } from "anywire";

const examples: Readonly<Record<string, unknown>> = { string: "anything", number: 1.5, integer: 1, boolean: true, array: [] };

/** A value that fits a simple JSON Schema: the default where there is one. */
export function exampleOf(schema: JsonObject): unknown {
  if (schema["default"] !== undefined) return schema["default"];
  const choices = schema["enum"] ?? (schema["oneOf"] as { readonly const: unknown }[] | undefined)?.map((choice) => choice.const);
  if (Array.isArray(choices)) return choices[0];
  if (schema["type"] !== "object") return examples[String(schema["type"])] ?? null;
  return Object.fromEntries(
    Object.entries((schema["properties"] ?? {}) as Record<string, JsonObject>).map(([name, property]) => [name, exampleOf(property)]),
  );
}
