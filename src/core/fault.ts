import { meanings, rpcCodeOf, rpcCodes } from "./faults/json-rpc.js";
import { revisionOf } from "./faults/revisions.js";
import type { JsonObject } from "./json.js";
import type { Era } from "./service.js";

/** Everything that can go wrong, as a closed set: each edge maps it by a total table of `faults/`. */
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
  /** The JSON-RPC code that a peer sent. It is passed on unchanged. */
  readonly rpcCode?: number;
  /** The other members of the JSON-RPC error that a peer sent. They are passed on unchanged. */
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

/** Any thrown value as a Fault. A value that is not a Fault becomes `internal`. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("internal", error instanceof Error ? error.message : String(error), { cause: error });
}

/** An error of JSON-RPC, open: members that are not named here are kept. */
export interface RpcError extends JsonObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A fault as a JSON-RPC error of an era. A peer's own code is passed on unchanged, unless the era's revision no longer has it. */
export function toRpcError(fault: Fault, era: Era): RpcError {
  const code = rpcCodeOf(fault, revisionOf[era]);
  const error = fault.data === undefined ? { code, message: fault.message } : { code, message: fault.message, data: fault.data };
  return fault.members === undefined ? error : { ...error, ...fault.members };
}

/** The fault of a message that is too large to send. The peer would end the link, with all its calls, if it got the message. */
export function messageTooLarge(max: number): Fault {
  return new Fault("overload", "the message is larger than a message may be", { data: { limit: "messageBytes", max } });
}

/** The fault of a server that is dialed and does not do its part within `handshakeMs`. `what` says which part. */
export function lateHandshake(ms: number, what = "the server did not finish the handshake", cause?: unknown): Fault {
  return new Fault("deadline", `${what} within ${ms} ms`, { cause, data: { limit: "handshakeMs", max: ms } });
}

/** A peer's JSON-RPC error as a fault that turns back into the same error. */
export function fromRpcError(error: RpcError): Fault {
  const { code, message, data, ...rest } = error;
  const members = Reflect.ownKeys(rest).length === 0 ? undefined : rest;
  // Modern edges must not send this code, so the fault keeps its meaning, and each edge finds its own number for it.
  if (code === rpcCodes.resourceNotFound) return new Fault("not-found", message, { data, members });
  return new Fault(meanings.get(code) ?? "application", message, { data, rpcCode: code, members });
}
