import type { ServerCall } from "../../../io/index.js";
import type { StandardOptions } from "./options.js";

const paths = /^\/grpc\.(health\.v1|reflection\.v1(alpha)?)\./;

/** Health and reflection. Their descriptors are loaded with the first call. Undefined for a path of another service. */
export function standardServices(served: StandardOptions): (call: ServerCall) => Promise<void> | undefined {
  let loaded: Promise<(call: ServerCall) => Promise<void>> | undefined;
  return (call) => {
    if (!paths.test(call.path)) return undefined;
    loaded ??= import("./standard.js").then(({ standard }) => standard(served));
    return loaded.then((handle) => handle(call));
  };
}
