import { Fault } from "../fault.js";
import { isObject } from "../json.js";

const mistake = (message: string): Fault => new Fault("invalid-params", message);

/** Names that other libraries use for what is `input` or `output` here. */
const elsewhere: Readonly<Record<string, string>> = { parameters: "input", paramsSchema: "input", schema: "input", args: "input" };

/** Throws if a registration of a tool is clearly a mistake, and says what to write instead. */
export function checkRegistration<H>(name: string, options: unknown, handler: H | undefined): asserts handler is H {
  const owner = `tool ${name}`;
  if (typeof options === "string")
    throw mistake(
      `${owner}: options are one object; write tool(${JSON.stringify(name)}, { description: ${JSON.stringify(options)}, input: … }, handler)`,
    );
  if (options !== undefined && !isObject(options)) throw mistake(`${owner}: options have to be an object`);
  if (options === undefined || typeof handler !== "function")
    throw mistake(`${owner}: the handler is missing; write tool(${JSON.stringify(name)}, options, handler)`);
  for (const side of ["input", "output"] as const) {
    const [schema, published] = [options[side], options[`${side}Schema`]];
    if (![schema, published].every(isSchemaLike))
      throw mistake(`${owner}: ${side} has to be a JSON Schema, such as { type: "object" }, or a schema of a library`);
    if (isShape(schema)) throw mistake(`${owner}: ${side} is an object of schemas; write ${side}: z.object({ … })`);
    if (isShape(published)) throw mistake(`${owner}: ${side}Schema is an object of schemas; write ${side}: z.object({ … })`);
    if (schema === undefined && isStandardLike(published))
      throw mistake(`${owner}: ${side}Schema is JSON Schema; for a schema of a library write ${side}: …`);
  }
  const strange = Object.keys(elsewhere).find((member) => member in options);
  if (strange !== undefined) throw mistake(`${owner}: there is no option "${strange}"; write ${elsewhere[strange]}: …`);
}

/** The fault for a tool result of the wrong form. */
export function badResult(name: string, result: unknown): Fault {
  if (Array.isArray(result))
    return new Fault("internal", `the tool ${name} returned an array that holds more than strings and content blocks`);
  if (isObject(result))
    return new Fault(
      "internal",
      `the tool ${name} returned an object that is not a tool result; return { structuredContent: … } or a string`,
    );
  return new Fault(
    "internal",
    `the tool ${name} returned ${result === null ? "null" : typeof result}; return a string, content blocks or { structuredContent: … }`,
  );
}

function isSchemaLike(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null) || typeof value === "function";
}

function isStandardLike(value: unknown): boolean {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/** Whether a value is an object whose members are schemas of a library, as the official SDK takes it. */
function isShape(value: unknown): boolean {
  if (!isObject(value) || isStandardLike(value)) return false;
  const members = Object.values(value);
  return members.length > 0 && members.every(isStandardLike);
}
