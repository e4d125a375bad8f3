import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Fault } from "../core/index.js";

/** A rule that a message violates: its field, the name of the rule, and what is wrong. */
export interface BrokenRule {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Checks messages against the rules of their own schema. The result is empty if none is violated. */
export type Validate = (schema: DescMessage, message: Message) => readonly BrokenRule[];

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
