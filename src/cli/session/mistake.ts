import { Fault } from "../../api/index.js";

const MISUSE = Symbol("misuse");
const ABSENT = Symbol("absent");

/** The fault of a wrong command line: nothing was called. A server's fault never looks like this one. */
export function misuse(message: string): Fault {
  return new Fault("invalid-params", message, { cause: MISUSE });
}

/** The fault of a name that the server does not have. */
export function absent(message: string): Fault {
  return new Fault("not-found", message, { cause: ABSENT });
}

export function isMisuse(fault: Fault): boolean {
  return fault.cause === MISUSE;
}

/** Whether only the user's input is wrong, so that the server's own output would distract. */
export function isMistake(fault: Fault): boolean {
  return fault.cause === MISUSE || fault.cause === ABSENT;
}
