import { Fault, isObject } from "../core/index.js";
import { askable, type BridgeOptions } from "./types.js";

const counts = ["maxUpstreams", "maxUpstreamsPerPrincipal", "poolSize"] as const;
const times = ["clientIdleMs", "clientLeftMs", "callMs", "idleStopMs", "waitMs"] as const;
const modes: readonly unknown[] = ["auto", "shared", "own"];
const like = 'such as bridge({ listen: ["any://127.0.0.1:8000"], to: { command: "node", args: ["server.js"] } })';

/**
 * Throws a Fault `invalid-params` if an option has a value with which calls could only wait or fail, before anything is started. The types
 * say most of it, but programs without types may give anything.
 */
export function checkOptions(given: BridgeOptions): void {
  const options: { readonly [name in keyof BridgeOptions]?: unknown } = given ?? {};
  const { listen, to, sessions = "auto", offer = askable } = options;
  if (to === undefined || to === null) throw misuse("to", `is the server: its URL or its command, ${like}`);
  if (!Array.isArray(listen) || listen.length === 0) throw misuse("listen", `takes a list of addresses, ${like}`);
  const pool = isObject(sessions) ? sessions["pool"] : undefined;
  if (!modes.includes(sessions) && !(Number.isInteger(pool) && Number(pool) > 0))
    throw misuse("sessions", `takes "auto", "shared", "own" or { pool: N } with N from 1 up, not ${JSON.stringify(sessions)}`);
  if (!Array.isArray(offer) || offer.some((each) => !askable.includes(each)))
    throw misuse("offer", `takes a list of ${askable.join(", ")}, not ${JSON.stringify(offer)}`);
  for (const name of counts)
    if (options[name] !== undefined && !(Number(options[name]) >= 1)) throw misuse(name, `takes a number from 1 up, not ${options[name]}`);
  for (const name of times)
    if (options[name] !== undefined && !(Number(options[name]) > 0))
      throw misuse(name, `takes milliseconds, more than 0, not ${options[name]}`);
}

function misuse(name: string, takes: string): Fault {
  return new Fault("invalid-params", `the option ${name} of bridge() ${takes}`);
}
