import { Fault } from "../../../core/index.js";

/** What an HTTP status that carries no message says. Redirects are not followed: credentials would go along. */
export function httpFault(status: number, text: string, location?: string): Fault {
  const moved = status < 400 && location !== undefined ? `: it has moved to ${location}` : undefined;
  const detail = moved ?? (text.length > 0 && text.length < 300 ? `: ${text.trim()}` : "");
  const code =
    status === 401 ? "unauthenticated" : status === 403 ? "denied" : status === 413 || status === 429 ? "overload" : "unavailable";
  return new Fault(code, `the server answered HTTP ${status}${detail}`, { data: { status } });
}

/** An answer that says it is fine, of a server that is probably another. */
export function noMessage(status: number, type: string | undefined): Fault {
  return new Fault("parse", `the server's answer is no MCP message: HTTP ${status}${type === undefined ? "" : `, ${type}`}`, {
    data: { status },
  });
}
