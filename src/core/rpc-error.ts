import type { RpcError } from "./fault.js";
import { isObject } from "./json.js";

/** Whether a value can be the error of an answer. */
export function isRpcError(value: unknown): value is RpcError {
  return isObject(value) && Number.isSafeInteger(value["code"]) && typeof value["message"] === "string";
}
