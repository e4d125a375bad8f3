import { Fault } from "../api/index.js";
import { isObject } from "../core/index.js";
import type { BridgeOptions } from "./types.js";
import { askable } from "./upstreams.js";

const like = 'such as bridge({ listen: ["any://127.0.0.1:8000"], to: { command: "node", args: ["server.js"] } })';

/** Throws a Fault `invalid-params` before anything is started. Programs without types may give anything. */
export function checkOptions(options: BridgeOptions): void {
  const { listen, to, sessions = "auto", offer = askable }: { readonly [name in keyof BridgeOptions]?: unknown } = options ?? {};
  if (to === undefined || to === null) throw wrong(`needs the server in \`to\`, ${like}`);
  if (!Array.isArray(listen) || listen.length === 0) throw wrong(`needs a list of addresses in \`listen\`, ${like}`);
  const pool = isObject(sessions) ? sessions["pool"] : undefined;
  if (!["auto", "shared", "own"].includes(String(sessions)) && !(Number.isInteger(pool) && Number(pool) > 0))
    throw wrong(`takes sessions: "auto", "shared", "own" or { pool: N }, not ${JSON.stringify(sessions)}`);
  if (!Array.isArray(offer) || offer.some((each) => !askable.some((name) => name === each)))
    throw wrong(`takes a list of ${askable.join(", ")} as offer, not ${JSON.stringify(offer)}`);
}

function wrong(what: string): Fault {
  return new Fault("invalid-params", `bridge ${what}`);
}
