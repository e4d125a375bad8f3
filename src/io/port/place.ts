import { type Address, DEFAULT_PORT, Fault } from "../../core/index.js";
import type { GuardOptions } from "../http/guard.js";
import { noCertificate, type SecureListenOptions } from "../tls.js";
import { badAddress } from "../unreached.js";
import type { NetworkCarrier } from "./carrier.js";

/** Where an address says to listen. */
export interface ListenPlace {
  readonly carrier: NetworkCarrier;
  readonly path: string;
  /** The hosts that clients may name, if not the usual ones: any on a Unix socket, which only local processes can reach. */
  readonly hosts?: Pick<GuardOptions, "allowedHosts">;
}

/** The hosts that clients of a Unix socket may name: any, because only local processes can reach it. */
export const localHosts: Pick<GuardOptions, "allowedHosts"> = { allowedHosts: ["*"] };

const secureSchemes: ReadonlySet<string> = new Set(["https", "wss", "tls"]);

/**
 * Reads an address to listen at: `scheme://host:port/path`, or `scheme+unix:PATH`. `path` is the usual one, and "" for a wire that has
 * none. A scheme with TLS needs `tls`. Other schemes must not have it, except `any`, which serves both.
 */
export function placeOf(address: Address, path: string, options: SecureListenOptions): ListenPlace {
  const text = String(address);
  const socket = unixPath(text);
  if (socket !== undefined) {
    if (options.tls !== undefined && !text.startsWith("any"))
      throw new Fault("invalid-params", "a Unix socket takes no tls: only this machine can reach it");
    return { carrier: { path: socket }, path, hosts: localHosts };
  }
  const [, before = "", scheme = ""] = /^([a-z]+\+)?([a-z]+):/.exec(text) ?? [];
  let url: URL;
  try {
    // As http, because URLs of unknown schemes follow other rules.
    url = new URL(text.slice(before.length).replace(/^(tcp|tls|any):/, "http:"));
  } catch (error) {
    throw badAddress(`not a URL: ${text}`, error);
  }
  const secure = secureSchemes.has(scheme);
  if (secure && options.tls === undefined) throw noCertificate(`${before}${scheme}`);
  if (!secure && options.tls !== undefined && scheme !== "any")
    throw new Fault(
      "invalid-params",
      `tls is given for an address without it: listen on ${before}${scheme === "tcp" ? "tls" : `${scheme}s`}://`,
    );
  const ofItsOwn = url.pathname === "/" ? undefined : url.pathname;
  if (path === "" && ofItsOwn !== undefined)
    throw badAddress(
      `not an address to listen at: ${text}: ${before}${scheme}:// has no path${scheme === "any" ? "; basePath sets one" : ""}`,
    );
  return {
    carrier: {
      // Without the brackets of an IPv6 address.
      host: url.hostname.replace(/^\[|\]$/g, ""),
      // A URL drops the default port of its scheme.
      port: Number(url.port || (/^[^/]*\/\/[^/]*:(\d+)(?:[/?#]|$)/.exec(text)?.[1] ?? DEFAULT_PORT)),
    },
    path: ofItsOwn ?? path,
  };
}

/** The path of a Unix socket that an address names: `unix:PATH`, or with a protocol before it. Throws where the system cannot keep others out. */
export function unixPath(address: string, platform: string = process.platform): string | undefined {
  const path = /^(?:[a-z+]+\+)?unix:(?:\/\/)?(.+)$/.exec(address)?.[1];
  if (path !== undefined && platform === "win32")
    throw badAddress(`Unix sockets are not supported on Windows: use a port of 127.0.0.1 instead of ${address}`);
  return path;
}
