import { type Era, Fault, type FaultCode, isObject } from "../../core/index.js";

/** How a link that was lost or refused with a fault of that code is treated. */
type Loss = "passing" | "refused" | "garbled";

const losses: Readonly<Record<FaultCode, Loss>> = {
  unavailable: "passing",
  deadline: "passing",
  overload: "passing",
  cancelled: "passing",
  internal: "passing",
  application: "passing",
  // When a fresh link is opened, the server may refuse it for good.
  unauthenticated: "refused",
  denied: "refused",
  "unknown-method": "refused",
  "invalid-params": "refused",
  "not-found": "refused",
  "meta-missing": "refused",
  "header-mismatch": "refused",
  "missing-capability": "refused",
  "unsupported-version": "refused",
  // The peer does not speak the protocol: the next link would break like this one.
  parse: "garbled",
  "invalid-request": "garbled",
};

/** HTTP statuses below 500 that may pass after a moment: a timeout, too early, too many requests. */
const passing: ReadonlySet<unknown> = new Set([408, 425, 429]);

/** Whether opening another link is pointless, after the loss of one or after a refusal. */
export function isForGood({ code, data }: Fault, how: "loss" | "refusal"): boolean {
  if (isOtherEra({ data })) return true;
  if (how === "loss" || losses[code] !== "passing") return how === "refusal" || losses[code] === "garbled";
  const status = isObject(data) ? data["status"] : undefined;
  return typeof status === "number" && status < 500 && !passing.has(status);
}

const OTHER_ERA = "other-era";

/** The fault of a server that came back in another era. The reason is `closed` if calls that it fails may have run. */
export function otherEra(was: Era, reason: "closed" | typeof OTHER_ERA = OTHER_ERA, cause?: Fault): Fault {
  const why = cause === undefined ? "" : `: ${cause.message}`;
  return new Fault("unavailable", `the server came back and does not speak the ${was} era any more${why}`, { cause, data: { reason } });
}

/** Whether a call failed because its server came back in another era. It was not sent then, and another connection can make it. */
export function isOtherEra({ data }: Pick<Fault, "data">): boolean {
  return isObject(data) && data["reason"] === OTHER_ERA;
}

/** Whether a server that answers `initialize` so has no legacy era, or does not take this client in it. */
export function refusesLegacy({ code, rpcCode }: Fault): boolean {
  return rpcCode !== undefined && losses[code] !== "passing" && code !== "unauthenticated" && code !== "denied";
}
