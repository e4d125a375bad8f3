import type { DialWire } from "../core/index.js";
import { observedAs } from "../era/index.js";
import { dialHttpOver } from "../wires/http/dial/over.js";
import { fetchClient } from "./fetch-client.js";
import { type FetchDialOptions, ownFetch } from "./fetch-options.js";

/** Streamable HTTP of both eras, by fetch: `http(s)://`. */
export const httpWire: DialWire = {
  name: "http",
  accepts: (address) => typeof address === "string" && /^https?:\/\//.test(address),
  dial(address, given: FetchDialOptions) {
    const options = observedAs(given, "dial", "http");
    return dialHttpOver(new URL(String(address)), options, () => fetchClient(given.fetch ?? ownFetch));
  },
};
