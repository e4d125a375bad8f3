import { Fault, type FaultCode } from "../../core/index.js";
import { limitData, SCHEMA_UNRESOLVED, type SchemaFaultOptions } from "../fault.js";

/** Why a schema cannot be resolved. */
export type UnresolvedReason =
  | "reference"
  | "registry-not-allowed"
  | "not-found"
  | "unauthenticated"
  | "denied"
  | "unreachable"
  | "timeout"
  | "certificate"
  | "pin"
  | "bad-answer"
  | "wrong-commit"
  | "too-large"
  | "hash"
  | "descriptors"
  | "message"
  | "offline"
  | "cache"
  | "file";

/** The fault code, for wires that do not carry JSON-RPC codes. */
const codes: Readonly<Record<UnresolvedReason, FaultCode>> = {
  /** The reference is invalid. */
  reference: "invalid-params",
  /** The reference names a registry that is not allowed. */
  "registry-not-allowed": "denied",
  /** The registry has no such module, label or commit, or does not say so without credentials. */
  "not-found": "not-found",
  unauthenticated: "unauthenticated",
  denied: "denied",
  /** Nothing answers there, or not in time. */
  unreachable: "unavailable",
  timeout: "deadline",
  /** Its certificate is not trusted, or has none of the pinned keys. */
  certificate: "unavailable",
  pin: "denied",
  /** The answer is not what was asked for. */
  "bad-answer": "unavailable",
  "wrong-commit": "unavailable",
  "too-large": "overload",
  /** The descriptors do not have the expected hash. */
  hash: "denied",
  /** The descriptors cannot be read, or lack the message. */
  descriptors: "invalid-params",
  message: "not-found",
  /** Offline, and it is not in the cache. */
  offline: "unavailable",
  /** The file in the cache is damaged. */
  cache: "internal",
  file: "not-found",
};

/** The fault of a schema that cannot be resolved. Its message says what failed, `data.reason` why. */
export function unresolved(reason: UnresolvedReason, message: string, more: SchemaFaultOptions & { data?: object } = {}): Fault {
  return new Fault(codes[reason], `cannot resolve the schema: ${message}`, {
    rpcCode: SCHEMA_UNRESOLVED,
    data: { reason, ...limitData(more), ...more.data },
    cause: more.cause,
  });
}
