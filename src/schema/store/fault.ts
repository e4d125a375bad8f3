import { Fault, type FaultCode } from "../../core/index.js";

/** The code that proto-mcp gives to a schema that cannot be had. */
export const SCHEMA_UNRESOLVED = -33000;

/** Why a schema cannot be had. */
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

/** What the fault is where a number of JSON-RPC does not travel. */
const codes: Readonly<Record<UnresolvedReason, FaultCode>> = {
  /** The reference is none. */
  reference: "invalid-params",
  /** The reference names a registry that nobody has allowed. */
  "registry-not-allowed": "denied",
  /** The registry has no such module, label or commit, or wants credentials to say so. */
  "not-found": "not-found",
  unauthenticated: "unauthenticated",
  denied: "denied",
  /** Nothing answers there, or not in time. */
  unreachable: "unavailable",
  timeout: "deadline",
  /** Its certificate is not trusted, or has none of the pinned keys. */
  certificate: "unavailable",
  pin: "denied",
  /** It answers, but not with what was asked for. */
  "bad-answer": "unavailable",
  "wrong-commit": "unavailable",
  "too-large": "overload",
  /** The descriptors are not those that they have to be. */
  hash: "denied",
  /** The descriptors cannot be read, or lack the message. */
  descriptors: "invalid-params",
  message: "not-found",
  /** Nothing may be asked for, and it is not in the cache. */
  offline: "unavailable",
  /** The file in the cache is damaged. */
  cache: "internal",
  file: "not-found",
};

/** The fault of a schema that cannot be had: its message says what, `data.reason` why. */
export function unresolved(reason: UnresolvedReason, message: string, more: { cause?: unknown; data?: object } = {}): Fault {
  return new Fault(codes[reason], `cannot resolve the schema: ${message}`, {
    rpcCode: SCHEMA_UNRESOLVED,
    data: { reason, ...more.data },
    cause: more.cause,
  });
}
