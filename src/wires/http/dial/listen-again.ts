import { type Cancel, type Fault, fixedTimeouts, toFault } from "../../../core/index.js";
import { isForGood } from "../../../era/index.js";
import { Backoff } from "../../../stream/index.js";
import { wait } from "./wait.js";

/** A stream that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;

/** Opens a listening call again when its stream broke, until it ends, is left, or the server refuses it. */
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
