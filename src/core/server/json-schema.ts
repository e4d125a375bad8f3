import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import { step } from "../exact.js";
import { Fault, toFault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import type { Checked, ValueCheck } from "./check.js";

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

/** Steps that one check may take: about a fifth of a second. Schemas can be written that take longer than anybody lives. */
const STEPS = 2_000_000;
/** What following a reference counts. */
const REFERENCE = 20;

/** Thrown through the validator when a check has taken all its steps. */
class Exhausted extends Error {}

interface Validator {
  readonly validate: ValidateFunction;
  /** The steps that are left of the check that runs: it runs to its end at once, so there is one. */
  readonly budget: { left: number };
}

const compiled = new WeakMap<JsonObject, Promise<Validator>>();

/** A check against JSON Schema, bounded in time. The validator is loaded and compiled at the first check; a `$ref` out of the schema is never fetched. */
export function jsonSchemaCheck(schema: JsonObject): ValueCheck {
  let validator: Validator | undefined;
  return (value, root) => {
    if (validator !== undefined) return checked(validator, value, root);
    return compile(schema).then((ready) => {
      validator = ready;
      return checked(ready, value, root);
    });
  };
}

/** Compiles each schema object once, with an instance of its own: `$id`s of strangers do not meet, and nothing outlives the schema. */
function compile(schema: JsonObject): Promise<Validator> {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = load(schema);
    compiled.set(schema, validator);
  }
  return validator;
}

async function load(schema: JsonObject): Promise<Validator> {
  const budget = { left: STEPS };
  const spend = (steps: number): void => {
    budget.left -= steps;
    if (budget.left < 0) throw new Exhausted();
  };
  const { linearPattern } = await import("../pattern/linear.js");
  const regExp = Object.assign((pattern: string) => linearPattern(pattern, spend), { code: "linearPattern" });
  const ajv = await instance(schema["$schema"], { ...options, code: { regExp } });
  await countSteps(ajv, spend);
  try {
    return { validate: ajv.compile(schema), budget };
  } catch (error) {
    throw new Fault("internal", `a JSON Schema cannot be used: ${toFault(error).message}`, { cause: error });
  }
}

/** Has the validator tell of what may take more than one look at each value: references, and elements that are compared with each other. */
async function countSteps({ RULES }: Ajv, spend: (steps: number) => void): Promise<void> {
  const { _ } = await import("ajv");
  const references = (): void => spend(REFERENCE);
  const pairs = (count: number): void => spend((count * count) / 2);
  for (const keyword of ["$ref", "$dynamicRef", "uniqueItems"]) {
    const rule = RULES.all[keyword];
    if (typeof rule !== "object" || !("code" in rule.definition) || rule.definition.code === undefined) continue;
    const { code } = rule.definition;
    rule.definition.code = (context, ruleType) => {
      const { gen, data, parentSchema } = context;
      if (keyword !== "uniqueItems") gen.code(_`${gen.scopeValue("func", { ref: references })}()`);
      else if (!areScalars(parentSchema["items"])) gen.code(_`${gen.scopeValue("func", { ref: pairs })}(${data}.length)`);
      code(context, ruleType);
    };
  }
}

/** Of these the validator keeps a table, and compares none with another. */
function areScalars(items: unknown): boolean {
  const type = isObject(items) ? items["type"] : undefined;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type : [];
  return types.length > 0 && types.every((each) => each !== "object" && each !== "array");
}

async function instance(dialect: unknown, options: Options): Promise<Ajv> {
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

function checked({ validate, budget }: Validator, value: unknown, root: string): Checked {
  budget.left = STEPS;
  try {
    if (validate(value) === true) return { value };
  } catch (error) {
    if (error instanceof Exhausted) return { problem: `${root}: too costly to check against the schema (more than ${STEPS} steps)` };
    throw error;
  }
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
