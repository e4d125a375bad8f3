import type { FaultCode } from "../fault.js";
import type { PerRevision, Revision } from "./revisions.js";

const all = (code: number): PerRevision<number> => by(code, code);
const by = (legacy: number, modern: number, draft: number = modern): PerRevision<number> => ({
  "2025-11-25": legacy,
  "2026-07-28": modern,
  draft,
});

/** The code of a missing resource in the legacy revisions. Modern revisions must not send it. */
export const RESOURCE_NOT_FOUND = -32002;

/** The codes of Anywire's own errors on a JSON-RPC edge. A peer's own code is passed on unchanged. */
export const jsonRpcCodes: Readonly<Record<FaultCode, PerRevision<number>>> = {
  parse: all(-32700),
  "invalid-request": all(-32600),
  "unknown-method": all(-32601),
  "invalid-params": all(-32602),
  "not-found": by(RESOURCE_NOT_FOUND, -32602),
  "meta-missing": all(-32602),
  internal: all(-32603),
  "header-mismatch": all(-32020),
  "missing-capability": all(-32021),
  "unsupported-version": all(-32022),
  overload: by(-32000, -31001, -32023),
  deadline: by(-32001, -31002),
  unavailable: by(-32000, -31003),
  cancelled: by(-32000, -31004),
  unauthenticated: by(-32000, -31005),
  denied: by(-32000, -31006),
  application: all(-32603),
};

/** Codes of a peer that a revision no longer has, and the fault that means the same there. Message and data stay. */
const givenUp: ReadonlyMap<number, FaultCode> = new Map([
  [RESOURCE_NOT_FOUND, "not-found"],
  [-32042, "application"],
]);
export const unsendable: PerRevision<ReadonlyMap<number, FaultCode>> = { "2025-11-25": new Map(), "2026-07-28": givenUp, draft: givenUp };

/** The meanings of a peer's codes. A code that is not here is the peer's own. */
export const meanings: ReadonlyMap<number, FaultCode> = new Map<number, FaultCode>([
  [-32700, "parse"],
  [-32600, "invalid-request"],
  [-32601, "unknown-method"],
  [-32602, "invalid-params"],
  [-32603, "internal"],
  [-32020, "header-mismatch"],
  [-32021, "missing-capability"],
  [-32022, "unsupported-version"],
  [-31001, "overload"],
  [-31002, "deadline"],
  [-31003, "unavailable"],
  [-31004, "cancelled"],
  [-31005, "unauthenticated"],
  [-31006, "denied"],
  // proto-mcp's own codes: a schema that cannot be resolved, invalid arguments, an unsupported version, a tool that timed out.
  [-33000, "unavailable"],
  [-33001, "invalid-params"],
  [-33002, "unsupported-version"],
  [-33003, "deadline"],
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
