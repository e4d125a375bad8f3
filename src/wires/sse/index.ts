import { type Address, defaultTimeouts, Fault, type Wire } from "../../core/index.js";
import { dialLink, observedAs, renewing } from "../../era/index.js";
import { type SseDialOptions, sseLink } from "./dial.js";
import { listenSse, type SseOptions, sseMount } from "./listen.js";

export { type SseDialOptions, type SseOptions, sseLink, sseMount };

/** HTTP+SSE with two endpoints, legacy only: `sse+http://host/sse`. */
export const sse: Wire = {
  name: "sse",
  accepts: (address) => typeof address === "string" && /^sse\+https?:\/\//.test(address),
  listen: (service, address, options) => listenSse(service, address, options),
  dial: async (address, given: SseDialOptions) => {
    const options = observedAs(given, "dial", "sse");
    if (options.era === "modern")
      throw new Fault("unsupported-version", "HTTP+SSE is of the legacy era; the modern one has no such transport");
    // The first request may have to wait for a person to sign in.
    const handshakeMs = (options.handshakeMs ?? defaultTimeouts.handshakeMs) + (options.auth?.patienceMs ?? 0);
    const patient = { ...options, handshakeMs };
    const connect = (signal: AbortSignal | undefined) => sseLink(parse(address), { ...patient, signal });
    return dialLink(renewing(await connect(options.signal), { ...patient, connect }), { ...patient, era: "legacy" });
  },
};

function parse(address: Address): URL {
  return new URL(String(address).slice("sse+".length));
}
