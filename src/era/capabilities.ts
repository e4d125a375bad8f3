import { Fault, isObject, type JsonObject, neededCapability, type Request } from "../core/index.js";

/** The Fault that refuses a question if the client did not declare the capability to answer it. */
export function lacking({ method, params }: Request, capabilities: JsonObject): Fault | undefined {
  const required = neededCapability(method, params);
  if (required === undefined) return undefined;
  for (const [name, members] of Object.entries(required)) {
    const declared = capabilities[name];
    if (!isObject(declared) || Object.keys(members).some((member) => declared[member] === undefined))
      return new Fault("missing-capability", `the client did not declare the capability ${name}`, {
        data: { requiredCapabilities: required },
      });
  }
  return undefined;
}
