import type { DescMessage, Message } from "@bufbuild/protobuf";
import { pathToString, reflect } from "@bufbuild/protobuf/reflect";
import { VALIDATION_FAILED } from "../codec/bufmcpv1/index.js";
import { type BrokenRule, Fault, type Validate } from "../core/index.js";

let loaded: Promise<Validate> | undefined;

/**
 * Validation by the rules of `buf.validate`. `@bufbuild/protovalidate` is loaded with the first call, which takes half a second. Rejects if
 * it is not installed.
 */
export function protovalidate(): Promise<Validate> {
  loaded ??= import("@bufbuild/protovalidate").then(
    ({ createValidator }) => {
      const validator = createValidator();
      return (schema: DescMessage, message: Message): readonly BrokenRule[] => {
        const result = validator.validate(schema, message);
        if (result.kind === "valid") return [];
        if (result.kind === "error")
          throw (
            misfit(schema, message) ??
            new Fault("internal", `${schema.typeName} cannot be validated: ${result.error.message}`, { cause: result.error })
          );
        return result.violations.map(({ field, ruleId, message: why }) => ({ field: pathToString(field), rule: ruleId, message: why }));
      };
    },
    (cause: unknown) => {
      loaded = undefined;
      throw new Fault("internal", "messages are validated with @bufbuild/protovalidate, which is not installed", { cause });
    },
  );
  return loaded;
}

/** The fault of a field whose value is not of its type, which TypeScript prevents and JavaScript does not. */
function misfit(schema: DescMessage, message: Message): Fault | undefined {
  const reflected = reflect(schema, message);
  for (const field of schema.fields)
    try {
      if (reflected.isSet(field)) reflected.set(field, reflected.get(field));
    } catch (cause) {
      const data = { field: field.name };
      return new Fault("invalid-params", `${field.name}: ${(cause as Error).message}`, { rpcCode: VALIDATION_FAILED, data, cause });
    }
  return undefined;
}
