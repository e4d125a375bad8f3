import type { FaultCode } from "../fault.js";

/** gRPC status numbers, the same in every revision. The JSON-RPC code travels beside them, in the trailers. */
export const grpcStatuses: Readonly<Record<FaultCode, number>> = {
  parse: 3,
  "invalid-request": 3,
  "unknown-method": 12,
  "invalid-params": 3,
  "not-found": 5,
  "meta-missing": 3,
  internal: 13,
  "header-mismatch": 3,
  "missing-capability": 9,
  "unsupported-version": 9,
  overload: 8,
  deadline: 4,
  unavailable: 14,
  cancelled: 1,
  unauthenticated: 16,
  denied: 7,
  application: 2,
};
