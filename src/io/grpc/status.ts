import { Fault, type FaultCode, grpcStatuses, isObject } from "../../core/index.js";
import type { Metadata, Status } from "./types.js";

/** The statuses that the framing itself uses. */
export const OK = 0;
export const CANCELLED: number = grpcStatuses.cancelled;
export const UNKNOWN: number = grpcStatuses.application;
export const DEADLINE_EXCEEDED: number = grpcStatuses.deadline;
export const PERMISSION_DENIED: number = grpcStatuses.denied;
export const RESOURCE_EXHAUSTED: number = grpcStatuses.overload;
export const UNIMPLEMENTED: number = grpcStatuses["unknown-method"];
export const INTERNAL: number = grpcStatuses.internal;
export const UNAVAILABLE: number = grpcStatuses.unavailable;
export const UNAUTHENTICATED: number = grpcStatuses.unauthenticated;

/** The names of the statuses, by number. */
export const statusNames: readonly string[] = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/** The inverse of grpcStatuses. Where several codes share a status, the least specific one is used. */
const codes: readonly FaultCode[] = [
  "internal",
  "cancelled",
  "application",
  "invalid-params",
  "deadline",
  "not-found",
  "application",
  "denied",
  "overload",
  "invalid-request",
  "application",
  "invalid-params",
  "unknown-method",
  "internal",
  "unavailable",
  "internal",
  "unauthenticated",
];

/** What statusFault() leaves in `fault.data`. */
export interface StatusData {
  /** The number that was received. */
  readonly grpcStatus: number;
  readonly trailers?: Metadata;
  /** Set for an `unavailable` fault, as everywhere. */
  readonly reason?: string;
}

/** A status other than OK as a fault: with its message, and its number and trailers as StatusData. */
export function statusFault(status: Status): Fault {
  const { code, message, metadata } = status;
  const data: StatusData = {
    grpcStatus: code,
    ...(metadata !== undefined && Object.keys(metadata).length > 0 && { trailers: metadata }),
    ...(code === UNAVAILABLE && { reason: "status" }),
  };
  const said = message === undefined || message === "" ? `the call ended with ${statusNames[code] ?? `status ${code}`}` : message;
  return new Fault(codes[code] ?? "application", said, { data });
}

/** The status for a fault. A peer's status number is passed on; its trailers are not. */
export function faultStatus(fault: Fault): Status {
  const grpcStatus = isObject(fault.data) ? fault.data["grpcStatus"] : undefined;
  const passed = typeof grpcStatus === "number" && grpcStatus > 0 && statusNames[grpcStatus] !== undefined;
  return { code: passed ? grpcStatus : grpcStatuses[fault.code], message: fault.message };
}

/** The status for an answer that is not gRPC, by its HTTP status. */
export function httpToGrpc(status: number): number {
  switch (status) {
    case 400:
      return INTERNAL;
    case 401:
      return UNAUTHENTICATED;
    case 403:
      return PERMISSION_DENIED;
    case 404:
      return UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return UNAVAILABLE;
    default:
      return UNKNOWN;
  }
}
