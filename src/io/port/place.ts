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
 * Reads an address to listen at: `scheme://host:port/path`, or `scheme+unix:PATH`. `path` is used if it has none; empty, it may have none. A scheme with TLS needs `tls`. Other schemes must not
 * have it, except `any`, which serves both.
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
  if (path === "" && url.pathname !== "/") throw badAddress(`${before}${scheme}:// takes no path: leave out ${url.pathname}`);
  const secure = secureSchemes.has(scheme);
  if (secure && options.tls === undefined) throw noCertificate(`${before}${scheme}`);
  if (!secure && options.tls !== undefined && scheme !== "any")
    throw new Fault(
      "invalid-params",
      `tls is given for an address without it: listen on ${before}${scheme === "tcp" ? "tls" : `${scheme}s`}://`,
    );
  return {
    carrier: {
      // Without the brackets of an IPv6 address.
      host: url.hostname.replace(/^\[|\]$/g, ""),
      // A URL drops the default port of its scheme.
      port: Number(url.port || (/^[^/]*\/\/[^/]*:(\d+)(?:[/?#]|$)/.exec(text)?.[1] ?? DEFAULT_PORT)),
    },
    path: url.pathname === "/" ? path : url.pathname,
  };
}

/** Bytes that the path of a Unix socket may have. Node cuts a longer one off and uses the file of that name instead. */
const longestUnixPath = (platform: string): number => (platform === "linux" ? 107 : 103);

/** The path of a Unix socket that an address names: `unix:PATH`, or with a protocol before it. Throws if there can be no such socket. */
export function unixPath(address: string, platform: string = process.platform): string | undefined {
  const path = /^(?:[a-z+]+\+)?unix:(?:\/\/)?(.*)$/s.exec(address)?.[1];
  if (path === undefined) return undefined;
  if (platform === "win32") throw badAddress(`Unix sockets are not supported on Windows: use a port of 127.0.0.1 instead of ${address}`);
  if (path === "") throw badAddress(`${address} names no socket: give its path, as in ${address.replace(/\/\/$/, "")}/run/me/mcp.sock`);
  const [bytes, most] = [Buffer.byteLength(path), longestUnixPath(platform)];
  if (bytes > most) throw badAddress(`the path of a Unix socket can have ${most} bytes, this one has ${bytes}: ${path}`);
  return path;
}
