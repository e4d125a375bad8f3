import type { FaultCode } from "../fault.js";
import type { PerRevision, Revision } from "./revisions.js";

const all = (code: number): PerRevision<number> => by(code, code);
const by = (legacy: number, modern: number, draft: number = modern): PerRevision<number> => ({
  "2025-11-25": legacy,
  "2026-07-28": modern,
  draft,
});

/** The codes of JSON-RPC and MCP. Modern revisions must not send the last two. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  resourceNotFound: -32002,
  urlElicitationRequired: -32042,
} as const;

/** The codes that proto-mcp adds. */
export const protoMcpCodes = {
  schemaUnresolved: -33000,
  invalidArguments: -33001,
  unsupportedVersion: -33002,
  toolTimeout: -33003,
} as const;

/** The codes of Anywire's own errors on a JSON-RPC edge. A peer's own code is passed on unchanged. */
export const jsonRpcCodes: Readonly<Record<FaultCode, PerRevision<number>>> = {
  parse: all(rpcCodes.parse),
  "invalid-request": all(rpcCodes.invalidRequest),
  "unknown-method": all(rpcCodes.unknownMethod),
  "invalid-params": all(rpcCodes.invalidParams),
  "not-found": by(rpcCodes.resourceNotFound, rpcCodes.invalidParams),
  "meta-missing": all(rpcCodes.invalidParams),
  internal: all(rpcCodes.internal),
  "header-mismatch": all(rpcCodes.headerMismatch),
  "missing-capability": all(rpcCodes.missingCapability),
  "unsupported-version": all(rpcCodes.unsupportedVersion),
  overload: by(-32000, -31001, -32023),
  deadline: by(-32001, -31002),
  unavailable: by(-32000, -31003),
  cancelled: by(-32000, -31004),
  unauthenticated: by(-32000, -31005),
  denied: by(-32000, -31006),
  application: all(rpcCodes.internal),
};

/** Codes of a peer that a revision no longer has, and the fault that means the same there. Message and data stay. */
const givenUp: ReadonlyMap<number, FaultCode> = new Map([
  [rpcCodes.resourceNotFound, "not-found"],
  [rpcCodes.urlElicitationRequired, "application"],
]);
export const unsendable: PerRevision<ReadonlyMap<number, FaultCode>> = { "2025-11-25": new Map(), "2026-07-28": givenUp, draft: givenUp };

/** The meanings of a peer's codes. A code that is not here is the peer's own. */
export const meanings: ReadonlyMap<number, FaultCode> = new Map<number, FaultCode>([
  [rpcCodes.parse, "parse"],
  [rpcCodes.invalidRequest, "invalid-request"],
  [rpcCodes.unknownMethod, "unknown-method"],
  [rpcCodes.invalidParams, "invalid-params"],
  [rpcCodes.internal, "internal"],
  [rpcCodes.headerMismatch, "header-mismatch"],
  [rpcCodes.missingCapability, "missing-capability"],
  [rpcCodes.unsupportedVersion, "unsupported-version"],
  [-31001, "overload"],
  [-31002, "deadline"],
  [-31003, "unavailable"],
  [-31004, "cancelled"],
  [-31005, "unauthenticated"],
  [-31006, "denied"],
  [protoMcpCodes.schemaUnresolved, "unavailable"],
  [protoMcpCodes.invalidArguments, "invalid-params"],
  [protoMcpCodes.unsupportedVersion, "unsupported-version"],
  [protoMcpCodes.toolTimeout, "deadline"],
]);

/** The code of a fault in a revision, or the peer's own. */
export function rpcCodeOf(
  { code, rpcCode }: { readonly code: FaultCode; readonly rpcCode: number | undefined },
  revision: Revision,
): number {
  if (rpcCode === undefined) return jsonRpcCodes[code][revision];
  const other = unsendable[revision].get(rpcCode);
  return other === undefined ? rpcCode : jsonRpcCodes[other][revision];
}
