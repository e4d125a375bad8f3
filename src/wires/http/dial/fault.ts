import { Fault, fromRpcError, type RpcError, redactText, statusMeaning } from "../../../core/index.js";

/** What an HTTP status that carries no message says. Redirects are not followed: credentials would go along. */
export function httpFault(status: number, text: string, location?: string): Fault {
  const moved = status < 400 && location !== undefined ? `: it has moved to ${redactText(location)}` : undefined;
  const detail = moved ?? (text.length > 0 && text.length < 300 ? `: ${text.trim()}` : "");
  return new Fault(statusMeaning(status), `the server answered HTTP ${status}${detail}`, { data: { status } });
}

/** An answer that says it is fine, of a server that is probably another. */
export function noMessage(status: number, type: string | undefined): Fault {
  return new Fault("parse", `the server's answer is not an MCP message: HTTP ${status}${type === undefined ? "" : `, ${type}`}`, {
    data: { status },
  });
}

/** Whether a status says that a request is not taken, or not now, and nothing about what it asks for. */
export function isRefusal(status: number): boolean {
  return status === 403 || status === 429 || status >= 500;
}

/** The error in the body of a refusal: it passes on as it is, and the status says what it means. */
export function refusalFault(status: number, error: RpcError): Fault {
  const refusal = httpFault(status, "");
  const { code, message, data } = fromRpcError(error);
  return new Fault(status >= 500 ? code : refusal.code, message, { data, rpcCode: error.code, cause: refusal });
}
