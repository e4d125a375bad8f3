import { step } from "../exact.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Checked, ValueCheck } from "./check.js";
import { jsonSchemaCheck } from "./json-schema.js";
import { isStandard, type Schema, type SchemaIssue, type StandardResult } from "./standard.js";

/** The most problems to report. */
const told = 20;

/** The JSON Schema to publish for a schema. */
export function published(schema: Schema, explicit: JsonObject | undefined, side: "input" | "output", owner: string): JsonObject {
  if (explicit !== undefined) return explicit;
  if (!isStandard(schema)) return schema;
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined) {
    throw new Fault("invalid-params", `${owner}: schemas of ${vendor} make no JSON Schema, so ${side}Schema has to be given too`);
  }
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (error) {
    throw new Fault("invalid-params", `${owner}: its ${side} cannot be described in JSON Schema; give ${side}Schema too`, { cause: error });
  }
}

export function checker(schema: Schema): ValueCheck {
  if (!isStandard(schema)) return jsonSchemaCheck(schema);
  const standard = schema["~standard"];
  return (value, root) => {
    const result = standard.validate(value);
    return result instanceof Promise ? result.then((late) => checked(late, root)) : checked(result, root);
  };
}

function checked(result: StandardResult<unknown>, root: string): Checked {
  if (result.issues === undefined) return { value: result.value };
  return {
    problem: result.issues
      .slice(0, told)
      .map((issue) => `${place(root, issue)}: ${issue.message}`)
      .join("\n"),
  };
}

function place(root: string, issue: SchemaIssue): string {
  let path = root;
  for (const segment of issue.path ?? []) path += step(typeof segment === "object" ? segment.key : segment);
  return path;
}
