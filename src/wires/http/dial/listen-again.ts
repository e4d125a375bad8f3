import { type Cancel, type Fault, fixedTimeouts, toFault } from "../../../core/index.js";
import { isForGood } from "../../../era/index.js";
import { Backoff } from "../../../stream/index.js";
import { wait } from "./wait.js";

/** A stream that lasted this many milliseconds was a good one. */
const LASTED_MS = fixedTimeouts.lastedMs;

/** Opens a call again that only listens, because its stream broke: until it ends, is left, or its server refuses it. */
export async function reopenListen(broken: Fault, cancel: Cancel, exchange: () => Promise<void>): Promise<void> {
  const backoff = new Backoff<Fault>();
  let fault = broken;
  while (!isForGood(fault, "refusal")) {
    backoff.failed(fault);
    await wait(backoff.wait, cancel);
    if (cancel.fired) return;
    const since = Date.now();
    try {
      return await exchange();
    } catch (error) {
      fault = toFault(error);
    }
    if (cancel.fired) return;
    if (Date.now() - since > LASTED_MS) backoff.reset();
  }
  throw fault;
}
