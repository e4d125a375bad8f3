import type { OutgoingRequest } from "../../../codec/index.js";
import { isObject } from "../../../core/index.js";
import { rpcs } from "../names.js";

/** The RPC of each method that has one. */
export const byMethod: ReadonlyMap<string, string> = new Map(
  [...rpcs].filter(([name]) => name !== "CallToolWithProgress" && name !== "ReadResource").map(([name, rpc]) => [rpc.method, name]),
);

/** The RPC for a request. */
export function nameFor({ method, params }: OutgoingRequest): string | undefined {
  const token = isObject(params?.["_meta"]) ? params["_meta"]["progressToken"] : undefined;
  return method === "tools/call" && token !== undefined ? "CallToolWithProgress" : byMethod.get(method);
}
