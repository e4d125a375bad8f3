import type { Fault } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import type { Target } from "../args/input.js";
import { cleanLine, shortened } from "../out/clean.js";
import { exitCodes } from "../table/exit-codes.js";
import { isMistake, isMisuse } from "./mistake.js";
import type { ServerWords } from "./server-words.js";

export interface Failure {
  readonly code: number;
  /** One line for the user. */
  readonly message: string;
  /** Whether the server's own output helps to understand it. */
  readonly words: boolean;
}

export interface FailureContext {
  readonly target: Target;
  readonly connected: boolean;
  readonly words: ServerWords;
}

/** What a fault means for the user, and for a script. */
export function explainFault(fault: Fault, context: FailureContext): Failure {
  if (isMistake(fault)) return { code: isMisuse(fault) ? exitCodes.misuse : exitCodes.failed, message: line(fault.message), words: false };
  const reason = isObject(fault.data) ? fault.data["reason"] : undefined;
  if (!context.connected && fault.code === "invalid-params" && reason === "address")
    return { code: exitCodes.misuse, message: line(fault.message), words: false };
  if (fault.code === "deadline")
    return { code: exitCodes.late, message: line(`timed out: ${fault.message}${garbled(context)}`), words: true };
  const code = context.connected ? exitCodes.failed : exitCodes.unreachable;
  return { code, message: line(`${told(fault, context)}${garbled(context)}`), words: true };
}

function line(text: string): string {
  return cleanLine(shortened(text));
}

function told(fault: Fault, { words, connected, target }: FailureContext): string {
  const reason = isObject(fault.data) ? fault.data["reason"] : undefined;
  const atUrl = typeof target === "string" && target !== "";
  const failed = connected ? "" : `cannot connect${atUrl ? ` to ${target}` : ""}: `;
  if (fault.code === "missing-capability" && fault.message.includes("roots/list")) return `${fault.message}; --root <path> offers one`;
  if (fault.code === "missing-capability" && fault.message.includes("sampling/createMessage"))
    return `${fault.message}; this command has no model to ask`;
  if (fault.code === "unauthenticated" && atUrl && reason !== "timeout")
    return `${failed}${fault.message}; give a valid token with --token-env, or other credentials with --header`;
  if (fault.code !== "unavailable") return `${failed}${fault.message}`;
  if (reason === "not-found") return `${fault.message}; check its name, or give its path`;
  if (reason === "exited") return `${fault.message}${words.last === undefined ? "" : `: ${words.last}`}`;
  if (reason === "address-in-use" || reason === "cannot-listen") return fault.message;
  return atUrl ? `${failed}${fault.message}` : fault.message;
}

/** A server that prints what is not a message has mostly mistaken stdout for its log. */
function garbled({ words, connected, target }: FailureContext): string {
  if (words.garbage === undefined || connected || typeof target === "string") return "";
  return `; it printed on stdout what is not an MCP message (${words.garbage})`;
}
