import { type Fault, isObject, toFault, type Wire } from "../core/index.js";

/** Statuses with which a server without Streamable HTTP at that URL answers the POST of the handshake. */
const notThere: ReadonlySet<unknown> = new Set([400, 404, 405]);

/**
 * Dials HTTP+SSE if a server answers both a modern probe and `initialize` as if it knew neither: its URL may be that of an event stream.
 * The wires do not know each other, so this is done here. If the answer is a JSON-RPC message, the transport is right, and the answer is
 * final.
 */
export function withSseFallback(http: Wire, sse: () => Promise<Wire>): Wire {
  return {
    name: http.name,
    accepts: (address) => http.accepts(address),
    listen: (service, address, options) => http.listen(service, address, options),
    async dial(address, options) {
      // No older transport was ever used on a Unix socket or on pipes.
      if (typeof address !== "string" || !/^https?:/.test(address)) return http.dial(address, options);
      try {
        return await http.dial(address, options);
      } catch (error) {
        const refused = toFault(error);
        if (options.era === "modern" || !isNotThere(refused)) throw refused;
        return (await sse()).dial(`sse+${address}`, options).catch((later) => Promise.reject(moreTelling(refused, toFault(later))));
      }
    },
  };
}

function isNotThere({ code, data }: Fault): boolean {
  return code === "unavailable" && isObject(data) && notThere.has(data["status"]);
}

/** The fault to report when neither works: if there was no event stream, the first answer says more. */
function moreTelling(refused: Fault, later: Fault): Fault {
  return later.code === "unavailable" || later.code === "deadline" ? refused : later;
}
