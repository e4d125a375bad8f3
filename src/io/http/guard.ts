import type { Exchange } from "./exchange.js";

export interface GuardOptions {
  /** Hosts a request may name, with any port; `*.example.com` covers every name below. Loopback names unless given. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Hosts of the pages that may call: of their `Origin`. Loopback names unless given; `*` for every page. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Why a request is refused before anything else is looked at; undefined if it is not. */
export function refusal(exchange: Pick<Exchange, "header">, options: GuardOptions): string | undefined {
  // HTTP/2 may say it twice: both have to be allowed.
  const hosts = [exchange.header("host"), exchange.header(":authority")].filter((host) => host !== undefined);
  if (hosts.length === 0 || !hosts.every((host) => covers(options.allowedHosts ?? loopback, hostname(host))))
    return "the Host is not allowed";
  const origin = exchange.header("origin");
  if (origin !== undefined && !allowsOrigin(origin, options)) return "the Origin is not allowed";
  return undefined;
}

function allowsOrigin(origin: string, options: GuardOptions): boolean {
  const allowed = options.allowedOrigins ?? loopback;
  if (allowed.includes("*")) return true;
  try {
    return covers(allowed, new URL(origin).hostname);
  } catch {
    return false;
  }
}

/** A host without its port. */
function hostname(host: string): string {
  const end = host.startsWith("[") ? host.indexOf("]") + 1 : host.indexOf(":");
  return (end <= 0 ? host : host.slice(0, end)).toLowerCase();
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
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Last-Event-ID",
  "Traceparent",
  "Tracestate",
  "Baggage",
];

/** What a page of another origin needs to read the answer: the guard has let it in. */
export function corsHeaders(exchange: Exchange): Record<string, string> {
  const origin = exchange.header("origin");
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    vary: "Origin",
    "access-control-expose-headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
  };
}

/** The answer to a preflight names every header of the protocol, and those of tool parameters that were asked for. */
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
