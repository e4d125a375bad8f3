import { type Fault, isObject, toFault, type Wire } from "../core/index.js";

/** How a server that has no Streamable HTTP there answers a POST of the handshake. */
const strange: ReadonlySet<unknown> = new Set([400, 404, 405]);

/**
 * Dials HTTP+SSE where a server answers both a modern probe and `initialize` as one that knows neither: its URL may be that of a stream.
 * The wires do not know each other, so whoever knows both does that. An answer that is a JSON-RPC message shows that the
 * transport is the right one, and is final.
 */
export function olderToo(http: Wire, sse: () => Promise<Wire>): Wire {
  return {
    name: http.name,
    accepts: (address) => http.accepts(address),
    listen: (service, address, options) => http.listen(service, address, options),
    async dial(address, options) {
      // Nothing older was ever spoken on a Unix socket or on pipes.
      if (typeof address !== "string" || !/^https?:/.test(address)) return http.dial(address, options);
      try {
        return await http.dial(address, options);
      } catch (error) {
        const refused = toFault(error);
        if (options.era === "modern" || !isStrange(refused)) throw refused;
        return (await sse()).dial(`sse+${address}`, options).catch((later) => Promise.reject(worse(refused, toFault(later))));
      }
    },
  };
}

function isStrange({ code, data }: Fault): boolean {
  return code === "unavailable" && isObject(data) && strange.has(data["status"]);
}

/** What to say when neither works: a stream that was none says nothing that the first answer did not. */
function worse(refused: Fault, later: Fault): Fault {
  return later.code === "unavailable" || later.code === "deadline" ? refused : later;
}
