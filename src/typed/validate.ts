import type { DescMessage, Message } from "@bufbuild/protobuf";
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
          throw new Fault("internal", `${schema.typeName} cannot be validated: ${result.error.message}`, { cause: result.error });
        return result.violations.map((violation) => {
          const field = violation.field.map((step) => ("name" in step ? step.name : String(step))).join(".");
          return { field, rule: violation.ruleId, message: violation.message };
        });
      };
    },
    (cause: unknown) => {
      loaded = undefined;
      throw new Fault("internal", "messages are validated with @bufbuild/protovalidate, which is not installed", { cause });
    },
  );
  return loaded;
}
