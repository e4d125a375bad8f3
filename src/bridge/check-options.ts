import { Fault } from "../core/index.js";
import { askable, type BridgeOptions } from "./types.js";

const counts = ["maxUpstreams", "maxUpstreamsPerPrincipal", "poolSize"] as const;
const times = ["clientIdleMs", "clientLeftMs", "callMs", "idleStopMs", "waitMs"] as const;

/** Throws if an option has a value with which calls could only wait or fail. The types say most of it, and programs may be without types. */
export function checkOptions(options: BridgeOptions): void {
  const { listen, sessions = "auto", offer = askable } = options;
  if (!Array.isArray(listen) || listen.length === 0) throw misuse("listen", "takes at least one address");
  const isPool = typeof sessions === "object" && Number.isInteger(sessions?.pool) && sessions.pool > 0;
  if (!isPool && sessions !== "auto" && sessions !== "shared" && sessions !== "own")
    throw misuse("sessions", 'takes "auto", "shared", "own" or { pool: N }, with N from 1 up');
  const unknown = offer.find((name) => !askable.includes(name));
  if (unknown !== undefined) throw misuse("offer", `takes ${askable.join(", ")}, not ${JSON.stringify(unknown)}`);
  for (const name of counts)
    if (options[name] !== undefined && !(options[name] >= 1)) throw misuse(name, `takes a number from 1 up, not ${options[name]}`);
  for (const name of times)
    if (options[name] !== undefined && !(options[name] > 0)) throw misuse(name, `takes milliseconds, more than 0, not ${options[name]}`);
}

function misuse(name: string, takes: string): Fault {
  return new Fault("invalid-params", `the option ${name} of a bridge ${takes}`);
}
