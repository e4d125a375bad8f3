import type { IncomingHttpHeaders } from "node:http2";
import { receivedMetadata } from "./metadata.js";
import { percentDecode } from "./percent.js";
import { httpToGrpc, OK, UNKNOWN } from "./status.js";
import type { Status } from "./types.js";

/** The status of nearly every call. */
const FINE: Status = { code: OK, message: undefined, metadata: {} };

/** The status in trailers, or in the headers of a trailers-only response; undefined if there is none. */
export function readStatus(headers: IncomingHttpHeaders, raw?: readonly string[]): Status | undefined {
  const text = headers["grpc-status"];
  if (text === undefined) return undefined;
  const said = headers["grpc-message"];
  const message = typeof said === "string" ? percentDecode(said) : undefined;
  if (text === "0" && said === undefined && Object.keys(headers).length === 1) return FINE;
  const code = /^\d{1,9}$/.test(String(text)) ? Number(text) : UNKNOWN;
  return { code, message, metadata: receivedMetadata(headers, raw) };
}

/** The status of an answer that is not gRPC. */
export function foreignStatus(headers: IncomingHttpHeaders): Status {
  const status = Number(headers[":status"]);
  const type = headers["content-type"];
  const what = status === 200 ? `an answer of type ${type ?? "unknown"}` : `HTTP status ${status}`;
  return { code: httpToGrpc(status), message: `the server answered with ${what} instead of gRPC`, metadata: receivedMetadata(headers) };
}
