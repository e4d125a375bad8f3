import type { FaultCode } from "../fault.js";
import { isObject, noParams } from "../json.js";
import type { Era } from "../service.js";
import { type PerRevision, revisionOf } from "./revisions.js";

/** The HTTP statuses of a fault. */
export interface HttpStatuses {
  /** For a request that was refused: nothing of it has run. */
  readonly refused: number;
  /**
   * For an error that answers a call. It is 200 unless the revision names another status: the call may have run, and proxies retry what
   * failed with 502, 503 or 504. The official clients also read errors only from a 200 or 400.
   */
  readonly answered: number;
}

const row = (refused: number, modern: number, draft: number): PerRevision<HttpStatuses> => ({
  "2025-11-25": { refused, answered: 200 },
  "2026-07-28": { refused, answered: modern },
  draft: { refused: draft, answered: draft },
});

export const httpStatuses: Readonly<Record<FaultCode, PerRevision<HttpStatuses>>> = {
  parse: row(400, 400, 400),
  "invalid-request": row(400, 400, 400),
  "unknown-method": row(404, 404, 404),
  "invalid-params": row(400, 200, 400),
  "not-found": row(404, 200, 404),
  "meta-missing": row(400, 400, 400),
  internal: row(500, 200, 500),
  "header-mismatch": row(400, 400, 400),
  "missing-capability": row(400, 400, 400),
  "unsupported-version": row(400, 400, 400),
  overload: row(429, 200, 429),
  // For a request that did not arrive in time.
  deadline: row(408, 200, 503),
  unavailable: row(502, 200, 503),
  cancelled: row(499, 200, 500),
  unauthenticated: row(401, 200, 401),
  denied: row(403, 200, 403),
  application: row(500, 200, 500),
};

/** Refusals whose status depends on which limit was reached (`data.limit`), or on why (`data.reason`). */
export const refusalDetails: Readonly<Record<string, number>> = {
  "overload/messageBytes": 413,
  "overload/depth": 413,
  "overload/headerBytes": 431,
  "unavailable/closing": 503,
};

/** What can be wrong with an HTTP request before its message is read. */
export type RequestRefusal =
  | "no such path"
  | "another method"
  | "an Accept that leaves nothing to answer with"
  | "a body of another type, or packed"
  | "no session named"
  | "a session that is unknown, ended or another's"
  | "a stream that is open already"
  | "events that are not kept any more"
  | "no upgrade to WebSocket"
  | "gRPC over HTTP/1.1";

export const requestStatuses: Readonly<Record<RequestRefusal, number>> = {
  "no such path": 404,
  "another method": 405,
  "an Accept that leaves nothing to answer with": 406,
  "a body of another type, or packed": 415,
  "no session named": 400,
  "a session that is unknown, ended or another's": 404,
  "a stream that is open already": 409,
  "events that are not kept any more": 410,
  "no upgrade to WebSocket": 426,
  "gRPC over HTTP/1.1": 505,
};

/** The status of a request that is refused. */
export function refusedStatus(fault: { readonly code: FaultCode; readonly data?: unknown }, era: Era = "modern"): number {
  const { limit, reason } = isObject(fault.data) ? fault.data : noParams;
  return refusalDetails[`${fault.code}/${String(limit ?? reason)}`] ?? httpStatuses[fault.code][revisionOf[era]].refused;
}

/** The status of an answer that is an error. */
export function answeredStatus({ code }: { readonly code: FaultCode }, era: Era): number {
  return httpStatuses[code][revisionOf[era]].answered;
}

const meanings: ReadonlyMap<number, FaultCode> = new Map<number, FaultCode>([
  [401, "unauthenticated"],
  [403, "denied"],
  [413, "overload"],
  [429, "overload"],
]);

/** The meaning of a peer's status that comes without a message. */
export function statusMeaning(status: number): FaultCode {
  return meanings.get(status) ?? "unavailable";
}
