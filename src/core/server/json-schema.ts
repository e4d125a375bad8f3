import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { step } from "../exact.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Check, Checked } from "./check.js";

const latest = "https://json-schema.org/draft/2020-12/schema";
const draft07 = "http://json-schema.org/draft-07/schema";

const options: Options = {
  strict: false,
  validateFormats: false,
  // The schema is its author's: what cannot be compiled is told of, and the dialect's own schema need not be loaded.
  validateSchema: false,
  meta: false,
  // Members that every object inherits, such as `constructor`, are not members of the arguments.
  ownProperties: true,
  logger: false,
};

const compiled = new WeakMap<JsonObject, Promise<ValidateFunction>>();

/** A check against JSON Schema. The validator is loaded and compiled at the first check; a `$ref` out of the schema is never fetched. */
export function jsonSchemaCheck(schema: JsonObject): Check {
  let validate: ValidateFunction | undefined;
  return (value, root) => {
    if (validate !== undefined) return checked(validate, value, root);
    return compile(schema).then((ready) => {
      validate = ready;
      return checked(ready, value, root);
    });
  };
}

/** Compiles each schema object once, with an instance of its own: `$id`s of strangers do not meet, and nothing outlives the schema. */
function compile(schema: JsonObject): Promise<ValidateFunction> {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = load(schema);
    compiled.set(schema, validate);
  }
  return validate;
}

async function load(schema: JsonObject): Promise<ValidateFunction> {
  const ajv = await instance(schema["$schema"]);
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new Fault("internal", `a JSON Schema cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

async function instance(dialect: unknown): Promise<{ compile(schema: JsonObject): ValidateFunction }> {
  switch (typeof dialect === "string" ? dialect.replace(/#$/, "") : dialect) {
    case undefined:
    case latest:
      return new (await import("ajv/dist/2020.js")).Ajv2020(options);
    case draft07:
      return new (await import("ajv")).Ajv(options);
    default:
      throw new Fault("internal", `the JSON Schema dialect is not supported: ${String(dialect)} (supported: ${latest}, ${draft07})`);
  }
}

function checked(validate: ValidateFunction, value: unknown, root: string): Checked {
  if (validate(value) === true) return { value };
  return { problem: (validate.errors ?? []).map((error) => describe(error, root)).join("\n") };
}

function describe(error: ErrorObject, root: string): string {
  let path = root;
  for (const raw of error.instancePath.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    path += step(/^\d+$/.test(key) ? Number(key) : key);
  }
  // The culprit of these is a member that the path does not reach.
  const culprit: unknown =
    error.params["missingProperty"] ??
    error.params["additionalProperty"] ??
    error.params["unevaluatedProperty"] ??
    error.params["propertyName"];
  if (typeof culprit === "string") path += step(culprit);
  return `${path}: ${error.message ?? error.keyword}`;
}
