import { Fault } from "../core/index.js";
import type { Exit } from "./child.js";

/** The fault of calls to a child that has ended. */
export function exitFault(exit: Exit, cause?: unknown): Fault {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
  return new Fault("unavailable", `the server ${how}`, { cause, data: { reason: "exited", ...exit } });
}
