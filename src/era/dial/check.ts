import { type Cancel, type Context, type DialOptions, type Era, resultOf, toFault } from "../../core/index.js";
import { isModernServer } from "./handshake.js";
import { otherEra } from "./loss.js";
import type { Peer } from "./peer.js";

/** Asks the peer of a connection whether it is there, in the era that was agreed on. If it speaks another one now, the connection ends. */
export function checkedBy(
  peer: Peer,
  era: Era,
  context: (era: Era) => Context,
  options: Pick<DialOptions, "era">,
): (cancel: Cancel) => Promise<void> {
  return async (cancel) => {
    const method = era === "modern" ? "server/discover" : "ping";
    const answer = resultOf(peer.call({ method, params: {} }, { ...context(era), cancel }));
    if (era === "modern" && (options.era ?? "auto") === "auto") {
      if (!(await isModernServer(answer))) await peer.shut(otherEra("modern", "closed"));
    } else await answer.catch((error) => (toFault(error).rpcCode === undefined ? Promise.reject(error) : undefined));
  };
}
