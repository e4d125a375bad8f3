import { parseJson } from "../../codec/index.js";
import { Fault, fromRpcError, grpcStatuses, jsonText, type RpcError, toRpcError } from "../../core/index.js";
import { binary, fromBinary, type Status, statusFault, valuesOf } from "../../io/index.js";
import { header } from "./names.js";

/** Bytes of error data in a trailer: common peers refuse more than 8 KiB of them all. */
const DATA_BYTES = 4096;

/** An error as the status of a call. Code and data travel in the trailers, so that nothing is lost behind a bridge. */
export function errorStatus(error: RpcError, fault: Fault = fromRpcError(error)): Status {
  const data = error.data === undefined ? undefined : new TextEncoder().encode(jsonText(error.data));
  return {
    code: grpcStatuses[fault.code],
    message: error.message,
    metadata: {
      [header.errorCode]: String(error.code),
      ...(data === undefined || data.byteLength > DATA_BYTES ? undefined : { [header.errorData]: binary(data) }),
    },
  };
}

export function faultStatus(fault: Fault): Status {
  return errorStatus(toRpcError(fault, "modern"), fault);
}

/** The fault that a status stands for: the peer's own error, if it says which. */
export function statusError(status: Status): Fault {
  const code = Number(valuesOf(status.metadata ?? {}, header.errorCode)[0] ?? Number.NaN);
  if (!Number.isInteger(code)) return statusFault(status);
  const data = dataOf(valuesOf(status.metadata ?? {}, header.errorData)[0]);
  const fault = fromRpcError({ code, message: status.message ?? "", ...(data === undefined ? undefined : { data }) });
  // The status says what a JSON-RPC code alone leaves open.
  if (status.code === grpcStatuses["not-found"] && fault.code === "invalid-params")
    return new Fault("not-found", fault.message, { data: fault.data });
  return fault;
}

function dataOf(value: string | undefined): unknown {
  if (value === undefined) return undefined;
  try {
    return parseJson(new TextDecoder().decode(fromBinary(value)));
  } catch {
    return undefined;
  }
}
