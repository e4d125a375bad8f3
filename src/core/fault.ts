import type { JsonObject } from "./json.js";
import type { Era } from "./service.js";

/** Everything that can go wrong, as a closed set: each edge maps it by a total table. */
export type FaultCode =
  | "parse" // the bytes are no message
  | "invalid-request" // a message, but not one of this protocol
  | "unknown-method"
  | "invalid-params"
  | "not-found" // no such resource
  | "meta-missing" // a modern request without its required _meta
  | "internal"
  | "header-mismatch" // envelope and body disagree
  | "missing-capability" // the client did not declare what the request needs
  | "unsupported-version"
  | "overload" // over a limit; data.limit names it
  | "deadline"
  | "unavailable" // the peer is gone; data.reason says how
  | "cancelled"
  | "unauthenticated"
  | "denied"
  | "application"; // a peer's own code, which Anywire gives no meaning

export interface FaultOptions {
  readonly cause?: unknown;
  readonly data?: unknown;
  /** The JSON-RPC code a peer sent: passes on unchanged. */
  readonly rpcCode?: number;
  /** What else was in the JSON-RPC error that a peer sent: passes on unchanged. */
  readonly members?: JsonObject | undefined;
}

/** The one error class. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly data: unknown;
  readonly rpcCode: number | undefined;
  readonly members: JsonObject | undefined;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
    this.rpcCode = options.rpcCode;
    this.members = options.members;
  }
}

/** Any thrown thing as a Fault; what is no Fault is `internal`. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("internal", error instanceof Error ? error.message : String(error), { cause: error });
}

type PerEra = { readonly modern: number; readonly legacy: number };
const both = (code: number): PerEra => ({ modern: code, legacy: code });

/** What Anywire itself says on a JSON-RPC edge. */
export const jsonRpcCodes: Record<FaultCode, PerEra> = {
  parse: both(-32700),
  "invalid-request": both(-32600),
  "unknown-method": both(-32601),
  "invalid-params": both(-32602),
  "not-found": { modern: -32602, legacy: -32002 },
  "meta-missing": both(-32602),
  internal: both(-32603),
  "header-mismatch": both(-32020),
  "missing-capability": both(-32021),
  "unsupported-version": both(-32022),
  overload: { modern: -31001, legacy: -32000 },
  deadline: { modern: -31002, legacy: -32001 },
  unavailable: { modern: -31003, legacy: -32000 },
  cancelled: { modern: -31004, legacy: -32000 },
  unauthenticated: { modern: -31005, legacy: -32000 },
  denied: { modern: -31006, legacy: -32000 },
  application: both(-32603),
};

/** gRPC status numbers. */
export const grpcStatuses: Record<FaultCode, number> = {
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

/** HTTP statuses: 200 carries the error in its body. */
export const httpStatuses: Record<FaultCode, PerEra> = {
  parse: both(400),
  "invalid-request": both(400),
  "unknown-method": { modern: 404, legacy: 200 },
  "invalid-params": both(200),
  "not-found": both(200),
  "meta-missing": both(400),
  internal: both(200),
  "header-mismatch": both(400),
  "missing-capability": both(400),
  "unsupported-version": both(400),
  overload: both(429),
  deadline: both(504),
  unavailable: both(502),
  cancelled: both(499),
  unauthenticated: both(401),
  denied: both(403),
  application: both(200),
};

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A fault as a JSON-RPC error of an era. A peer's own code passes unchanged. */
export function toRpcError(fault: Fault, era: Era): RpcError {
  const code = fault.rpcCode ?? jsonRpcCodes[fault.code][era];
  const error = fault.data === undefined ? { code, message: fault.message } : { code, message: fault.message, data: fault.data };
  return fault.members === undefined ? error : { ...error, ...fault.members };
}

/** The fault of a message that is not sent, because it is larger than one may be: the peer would end the link, and all its calls, over it. */
export function messageTooLarge(max: number): Fault {
  return new Fault("overload", "the message is larger than a message may be", { data: { limit: "messageBytes", max } });
}

const meanings = new Map<number, FaultCode>([
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
]);

/** A peer's JSON-RPC error as a fault that turns back into the same error. */
export function fromRpcError(error: RpcError): Fault {
  const { code, message, data, ...rest } = error;
  const members = Reflect.ownKeys(rest).length === 0 ? undefined : rest;
  // Modern edges must not say -32002, so its meaning travels and each edge finds its own number.
  if (code === -32002) return new Fault("not-found", message, { data, members });
  return new Fault(meanings.get(code) ?? "application", message, { data, rpcCode: code, members });
}
