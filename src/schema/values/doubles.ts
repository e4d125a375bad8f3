import { ExactNumber, isObject, type JsonObject } from "../../core/index.js";

/** The value as ajv takes it: an exact number becomes the nearest double. */
export function withDoubles(value: unknown): unknown {
  return mapped(value, (each) => each);
}

/**
 * A schema that means the same to ajv as its text. Its exact numbers become doubles. A property `__proto__`, which ajv leaves out of
 * `properties`, becomes a pattern.
 */
export function checkable(schema: JsonObject): JsonObject {
  return mapped(schema, withProto) as JsonObject;
}

function mapped(value: unknown, change: (value: JsonObject) => JsonObject): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => ({ name, member, now: mapped(member, change) }));
  const isSame = entries.every(({ member, now }) => member === now);
  if (Array.isArray(value)) return isSame ? value : entries.map(({ now }) => now);
  return change(isSame ? (value as JsonObject) : Object.fromEntries(entries.map(({ name, now }) => [name, now])));
}

const PROTO = "__proto__";

function withProto(schema: JsonObject): JsonObject {
  const { properties, patternProperties } = schema;
  if (!isObject(properties) || !Object.hasOwn(properties, PROTO)) return schema;
  const { [PROTO]: own, ...others } = properties;
  return {
    ...schema,
    properties: others,
    patternProperties: { ...(isObject(patternProperties) ? patternProperties : {}), [`^${PROTO}$`]: own },
  };
}
