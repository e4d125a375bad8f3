import { parseMessage } from "../../../codec/index.js";
import { defaultLimits, Fault, fromRpcError, type RpcError, redactText, statusMeaning } from "../../../core/index.js";

/** The fault of an HTTP status without a message. Some servers and proxies quote the request with its credentials. Redirects are not followed, because credentials would be sent along. */
export function httpFault(status: number, text: string, location?: string): Fault {
  const moved = status < 400 && location !== undefined ? `: it has moved to ${redactText(location)}` : undefined;
  const detail = moved ?? (text.length > 0 && text.length < 300 ? `: ${redactText(saidIn(text))}` : "");
  return new Fault(statusMeaning(status), `the server answered HTTP ${status}${detail}`, { data: { status } });
}

/** What the body of a refusal says in words. */
function saidIn(text: string): string {
  const message = parseMessage(text, defaultLimits);
  return message.kind === "error" ? message.error.message : text.trim();
}

/** The fault of a successful answer that is not MCP: it probably comes from another kind of server. */
export function noMessage(status: number, type: string | undefined): Fault {
  return new Fault("parse", `the server's answer is not an MCP message: HTTP ${status}${type === undefined ? "" : `, ${type}`}`, {
    data: { status },
  });
}

/** Whether a status means that the server does not accept a request, or not now, and says nothing about the request itself. */
export function isRefusal(status: number): boolean {
  return status === 403 || status === 429 || status >= 500;
}

/** The fault of an error in the body of a refusal. The error is passed on unchanged, and the status decides its meaning. */
export function refusalFault(status: number, error: RpcError): Fault {
  const refusal = httpFault(status, "");
  const { code, message, data } = fromRpcError(error);
  return new Fault(status >= 500 ? code : refusal.code, message, { data, rpcCode: error.code, cause: refusal });
}

/**
 * Whether the answer to a request with a session says that the server does not know the session. The specification has 404 for that. Many
 * servers, the official examples among them, send 400 and an error that answers no request.
 */
export function isUnknownSession(status: number, text: string): boolean {
  if (status === 404) return true;
  if (status !== 400 || !/session/i.test(text)) return false;
  const message = parseMessage(text, defaultLimits);
  return message.kind !== "error" || message.id === undefined;
}
