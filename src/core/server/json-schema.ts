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
  // The schema comes from the server's author. A schema that does not compile is reported, and the schema of the dialect is not loaded.
  validateSchema: false,
  meta: false,
  // Inherited members, such as `constructor`, are not members of the arguments.
  ownProperties: true,
  logger: false,
};

/** Steps that one check may take: about a fifth of a second. Without a limit, some schemas would never finish. */
const STEPS = 2_000_000;
/** The steps that following a reference counts. */
const REFERENCE = 20;

/** Thrown through the validator when a check has taken all its steps. */
class Exhausted extends Error {}

interface Validator {
  readonly validate: ValidateFunction;
  /** The steps left for the running check. A check is synchronous, so only one runs at a time. */
  readonly budget: { left: number };
}

const compiled = new WeakMap<JsonObject, Promise<Validator>>();

/**
 * A check against JSON Schema, bounded in time. The validator is loaded and compiled at the first check. A `$ref` to another document is
 * never fetched.
 */
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

/** Compiles each schema object once, with a validator of its own, so that equal `$id`s do not collide and nothing outlives the schema. */
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

/** Makes the validator count what may look at a value more than once: references, and elements that are compared with each other. */
async function countSteps({ RULES }: Ajv, spend: (steps: number) => void): Promise<void> {
  const { _ } = (await import("ajv")).default;
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

/** For scalars the validator keeps a table and compares no element with another. */
function areScalars(items: unknown): boolean {
  const type = isObject(items) ? items["type"] : undefined;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type : [];
  return types.length > 0 && types.every((each) => each !== "object" && each !== "array");
}

/** Ajv is CommonJS. A bundler that splits code gives such a module only its default export. */
async function instance(dialect: unknown, options: Options): Promise<Ajv> {
  switch (typeof dialect === "string" ? dialect.replace(/#$/, "") : dialect) {
    case undefined:
    case latest:
      return new (await import("ajv/dist/2020.js")).default.Ajv2020(options);
    case draft07:
      return new (await import("ajv")).default.Ajv(options);
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
  // These errors are about a member that the path does not include.
  const culprit: unknown =
    error.params["missingProperty"] ??
    error.params["additionalProperty"] ??
    error.params["unevaluatedProperty"] ??
    error.params["propertyName"];
  if (typeof culprit === "string") path += step(culprit);
  return `${path}: ${error.message ?? error.keyword}`;
}
