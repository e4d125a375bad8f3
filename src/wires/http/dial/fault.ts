import { Fault } from "../../../core/index.js";

/** What an HTTP status that carries no message says. */
export function httpFault(status: number, text: string): Fault {
  const detail = text.length > 0 && text.length < 300 ? `: ${text.trim()}` : "";
  const code =
    status === 401 ? "unauthenticated" : status === 403 ? "denied" : status === 413 || status === 429 ? "overload" : "unavailable";
  return new Fault(code, `the server answered HTTP ${status}${detail}`, { data: { status } });
}
