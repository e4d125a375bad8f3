import type { DescService } from "@bufbuild/protobuf";
import { ServerReflection, ServerReflectionAlpha } from "../../../codec/gen/index.js";
import { Fault, toFault } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import { mcpStatus } from "../faults.js";
import { callerOf } from "../listen/caller.js";
import { healthService } from "./health.js";
import { HEALTH, type StandardOptions } from "./options.js";
import { reflectionService } from "./reflection.js";
import { dialectsOf, servicesOf } from "./served.js";

/** Answers the calls of health and reflection; never rejects. */
export function standard(served: StandardOptions): (call: ServerCall) => Promise<void> {
  const { options, closing } = served;
  const health = healthService(
    dialectsOf(served).map(({ typeName }) => typeName),
    closing,
  );
  const reflection = reflectionService(servicesOf(served));
  const reflected = new Set(options.reflection === false ? [] : [ServerReflection, ServerReflectionAlpha].map(pathOf));
  return async (call) => {
    try {
      const healthy = call.path.startsWith(HEALTH);
      await callerOf(call, healthy ? { ...options, auth: undefined } : options);
      if (healthy) await health(call);
      else if (reflected.has(call.path)) await reflection(call);
      else throw new Fault("unknown-method", `unknown method: ${call.path}`);
    } catch (error) {
      call.end(mcpStatus(toFault(error)));
    }
  };
}

function pathOf({ typeName }: DescService): string {
  return `/${typeName}/ServerReflectionInfo`;
}
