import { type Address, Fault } from "../../core/index.js";
import { noCertificate, type SecureListenOptions } from "../tls.js";
import { badAddress } from "../unreached.js";

/** Where a URL says to listen. */
export interface Place {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
  /** The address with the port that was chosen, as it is dialed. */
  dialed(port: number): string;
}

const DEFAULT_PORT = 8000;

/** Reads an address to listen at. `https` and `wss` need `tls`, and nothing else takes it. */
export function placeOf(address: Address, path: string, options: SecureListenOptions): Place {
  const text = String(address);
  const [, before = "", scheme = ""] = /^([a-z]+\+)?([a-z]+):/.exec(text) ?? [];
  let url: URL;
  try {
    url = new URL(text.slice(before.length));
  } catch (error) {
    throw badAddress(`not a URL: ${text}`, error);
  }
  const secure = scheme === "https" || scheme === "wss";
  if (secure && options.tls === undefined) throw noCertificate(`${before}${scheme}`);
  if (!secure && options.tls !== undefined)
    throw new Fault("invalid-params", `tls is given for an address without it: listen on ${before}${scheme}s://`);
  const at = url.pathname === "/" ? path : url.pathname;
  return {
    secure,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    // A URL drops the port that is its scheme's own.
    port: Number(url.port || (/^[^/]*\/\/[^/]*:(\d+)(?:[/?#]|$)/.exec(text)?.[1] ?? DEFAULT_PORT)),
    path: at,
    dialed: (port) => `${before}${scheme}://${url.hostname}:${port}${at}`,
  };
}
