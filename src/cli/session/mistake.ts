import { Fault } from "../../api/index.js";

const MISUSE = Symbol("misuse");
const ABSENT = Symbol("absent");

/** What the user typed cannot be meant: nothing was called. A server's fault never looks like this one. */
export function misuse(message: string): Fault {
  return new Fault("invalid-params", message, { cause: MISUSE });
}

/** The server has nothing of that name. */
export function absent(message: string): Fault {
  return new Fault("not-found", message, { cause: ABSENT });
}

export function isMisuse(fault: Fault): boolean {
  return fault.cause === MISUSE;
}

/** Whether the user's mistake is all that is wrong, so that the server's own words would only distract. */
export function isMistake(fault: Fault): boolean {
  return fault.cause === MISUSE || fault.cause === ABSENT;
}
