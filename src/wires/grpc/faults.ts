import { parseJson } from "../../codec/index.js";
import { encodeErrorNote, wellFormed } from "../../codec/mcpv1/index.js";
import { Fault, fromRpcError, grpcStatuses, jsonText, type RpcError, toRpcError } from "../../core/index.js";
import { binary, fitsStatus, fromBinary, statusFault, valuesOf } from "../../io/grpc/portable.js";
import type { ServerCall, Status } from "../../io/index.js";
import { header } from "./names.js";

/** Bytes of error data in a trailer: common peers refuse more than 8 KiB of trailers in total. */
const DATA_BYTES = 4096;

/**
 * An error as the status of a call. Code and data travel in the trailers. What has no room is named in the message and in a trailer of its
 * own.
 */
export function errorStatus(error: RpcError, fault: Fault = fromRpcError(error)): Status {
  const data = error.data === undefined ? undefined : new TextEncoder().encode(jsonText(error.data));
  const fits = data === undefined || data.byteLength <= DATA_BYTES;
  const text = wellFormed(error.message);
  const cut = [...(text === error.message && fitsStatus(text) ? [] : ["message"]), ...(fits ? [] : ["data"])];
  return {
    code: grpcStatuses[fault.code],
    message: fits ? text : `[${data.byteLength} bytes of error data left out] ${text}`,
    metadata: {
      [header.errorCode]: String(error.code),
      ...(cut.length > 0 && { [header.errorCut]: cut.join(",") }),
      ...(fits && data !== undefined && { [header.errorData]: binary(data) }),
    },
  };
}

export function mcpStatus(fault: Fault): Status {
  return errorStatus(toRpcError(fault, "modern"), fault);
}

/** Ends a call with an error. Between Anywire ends the whole error is sent before the status, if the status cannot hold all of it. */
export function endWithError(
  call: ServerCall,
  error: RpcError,
  { fault, isAnywirePeer }: { fault?: Fault | undefined; isAnywirePeer: boolean },
): void {
  const status = errorStatus(error, fault);
  const { code, message, data, ...more } = error;
  if (isAnywirePeer && (status.metadata?.[header.errorCut] !== undefined || Object.keys(more).length > 0))
    void call.send(encodeErrorNote(error));
  call.end(status);
}

/** The fault for a status: the peer's own error, if the trailers name one. `whole` is the error that was sent before the status. */
export function statusError(status: Status, whole?: RpcError): Fault {
  const code = Number(valuesOf(status.metadata ?? {}, header.errorCode)[0] ?? Number.NaN);
  if (whole === undefined && !Number.isInteger(code)) return statusFault(status);
  const data = dataOf(valuesOf(status.metadata ?? {}, header.errorData)[0]);
  const fault = fromRpcError(whole ?? { code, message: status.message ?? "", ...(data === undefined ? undefined : { data }) });
  // The status distinguishes what the JSON-RPC code alone does not.
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
