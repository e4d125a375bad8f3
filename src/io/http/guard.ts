import type { Exchange } from "./exchange.js";
import type { TrustedProxyOptions } from "./trusted-proxy.js";

export interface GuardOptions {
  /** Hosts that a request may name, with any port. `*.example.com` matches every name below it. Loopback names unless given. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins of the pages that may call. Scheme, host and port must match. `https://*.example.com` matches every name below it, a host alone
   * means `https://` and that host, `*` matches every page. By default `http` and `https` pages of loopback names, on any port.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Proxies that are trusted to say where a request came from, and who makes it. */
  readonly trustedProxy?: TrustedProxyOptions | undefined;
}

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Why a request is refused before anything else is checked; undefined if it is not refused. */
export function refusal(exchange: Pick<Exchange, "hosts" | "header">, options: GuardOptions): string | undefined {
  const patterns = options.allowedHosts ?? loopback;
  const { hosts } = exchange;
  if (hosts.length === 0 || !(patterns.includes("*") || hosts.every((host) => allowsHost(host, patterns))))
    return "the Host is not allowed";
  const origin = exchange.header("origin");
  if (origin !== undefined && !allowsOrigin(origin, options.allowedOrigins)) return "the Origin is not allowed";
  return undefined;
}

const authority = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{0,5}))?$/i;
const serializedOrigin = /^([a-z][a-z0-9+.-]*):\/\/(.+)$/i;
const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** What was allowed last. Nearly all requests of a listener name the same host. */
let last: { readonly host: string; readonly patterns: readonly string[] } | undefined;

function allowsHost(host: string, patterns: readonly string[]): boolean {
  if (last?.host === host && last.patterns === patterns) return true;
  const name = authority.exec(host)?.[1];
  if (name === undefined || !covers(patterns, name.toLowerCase())) return false;
  last = { host, patterns };
  return true;
}

function allowsOrigin(origin: string, patterns: readonly string[] | undefined): boolean {
  if (patterns?.includes("*") === true) return true;
  const page = originOf(origin);
  if (page === undefined) return false;
  if (patterns === undefined) return /^https?$/.test(page.scheme) && covers(loopback, page.host);
  return patterns.some((pattern) => {
    const wildcard = /^((?:[^/]*:\/\/)?)\*\./.exec(pattern);
    const allowed = originOf(wildcard === null ? pattern : `${wildcard[1]}${pattern.slice(wildcard[0].length)}`);
    if (allowed === undefined || allowed.scheme !== page.scheme || allowed.port !== page.port) return false;
    return covers([wildcard === null ? allowed.host : `*.${allowed.host}`], page.host);
  });
}

/** The parts of an `Origin` header or of an allowed origin; undefined if it is invalid. */
function originOf(text: string): { readonly scheme: string; readonly host: string; readonly port: string | undefined } | undefined {
  const [, scheme, rest] = serializedOrigin.exec(text.includes("://") ? text : `https://${text}`) ?? [];
  const [, host, port] = authority.exec(rest ?? "") ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  const lower = scheme.toLowerCase();
  return { scheme: lower, host: host.toLowerCase(), port: port || defaultPorts[lower] };
}

function covers(patterns: readonly string[], host: string): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith("*.")
      ? host.endsWith(pattern.slice(1).toLowerCase()) && host.length > pattern.length - 1
      : pattern === "*" || pattern.toLowerCase() === host,
  );
}

const allowed = [
  "Content-Type",
  "Accept",
  "Authorization",
  "X-API-Key",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Last-Event-ID",
  "Traceparent",
  "Tracestate",
  "Baggage",
];

/** The headers of an answer without headers of its own. It is compared by identity. */
export const noHeaders: Readonly<Record<string, string>> = {};

/** The headers that a page of another origin needs to read the answer. The guard has already let it in. */
export function corsHeaders(exchange: Exchange): Readonly<Record<string, string>> {
  const origin = exchange.header("origin");
  if (origin === undefined) return noHeaders;
  return {
    "access-control-allow-origin": origin,
    vary: "Origin",
    "access-control-expose-headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
  };
}

/** The headers of the answer to a preflight: every header of the protocol, and the tool-parameter headers that were asked for. */
export function preflightHeaders(exchange: Exchange): Record<string, string> {
  const asked = (exchange.header("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
  const params = asked.filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name));
  return {
    ...corsHeaders(exchange),
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": [...allowed, ...params].join(", "),
    "access-control-max-age": "600",
  };
}
