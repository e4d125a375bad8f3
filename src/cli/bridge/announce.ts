import type { ListenAddress } from "../../api/index.js";
import { isLoopbackHost } from "./listen.js";
import { snippet } from "./snippet.js";

/** The usual names of the wires, in this order. */
const titles: readonly (readonly [wire: string, title: string])[] = [
  ["http", "Streamable HTTP"],
  ["sse", "HTTP+SSE"],
  ["websocket", "WebSocket"],
  ["grpc", "gRPC"],
  ["connect", "Connect, gRPC-Web"],
  ["tunnel", "gRPC tunnel"],
  ["lines", "lines of JSON"],
  ["proto", "proto-mcp"],
  ["proto-websocket", "proto-mcp, WebSocket"],
  ["proto-grpc", "proto-mcp, gRPC"],
  ["stdio", "stdin and stdout"],
];

export interface Announced {
  readonly name: string;
  readonly addresses: readonly ListenAddress[];
  readonly publicUrl?: URL | undefined;
  /** The values of `--allow-host`. */
  readonly hosts?: readonly string[];
  readonly client: string | undefined;
  readonly keyed: boolean;
}

/** The addresses of the server, a line for each wire, and what to paste into a client. */
export function announcement({ name, addresses, publicUrl, hosts = [], client, keyed }: Announced): readonly string[] {
  const rows = [...addresses].sort((a, b) => rank(a) - rank(b)).map(({ wire, address }) => [titleOf(wire), shown(wire, address)] as const);
  // Clients connect to a host. None of them takes the path of a socket as a URL.
  const hosted = addresses.filter(({ address }) => /^(?:sse\+)?https?:\/\//.test(address));
  const [http, sse] = ["http", "sse"].map((name) => hosted.find(({ wire }) => wire === name));
  const local = http ?? sse;
  const plain = local && reachable(shown(local.wire, local.address), hosts);
  const url = publicUrl === undefined ? plain : publicAddress(publicUrl, plain);
  const all = publicUrl === undefined ? rows : [...rows, ["to clients", url] as const];
  const widest = Math.max(...all.map(([title]) => title.length));
  return [
    `${name} is now at`,
    ...all.map(([title, address]) => `  ${title.padEnd(widest)}  ${address}`),
    ...(url === undefined
      ? noSnippet(client)
      : snippet(client, { name, url, keyed, type: http === undefined && sse !== undefined ? "sse" : "http" })),
  ];
}

/** Who asks for a snippet should not look for it in vain. */
function noSnippet(client: string | undefined): readonly string[] {
  if (client === undefined || client === "none") return [];
  return ["", `No snippet for ${client}: it connects over HTTP. Listen at http://, https:// or any:// with a host and port.`];
}

/** A public URL without a path belongs to a proxy that passes the path on. */
function publicAddress(given: URL, local: string | undefined): string {
  return given.pathname === "/" && local !== undefined ? new URL(new URL(local).pathname, given).href : given.href;
}

/** A listener that is open to the network is called by a name that it allows. Its own address may be none, such as 0.0.0.0. */
function reachable(address: string, hosts: readonly string[]): string {
  const url = new URL(address);
  if (isLoopbackHost(url.hostname)) return address;
  const host = hosts.find((each) => !each.includes("*")) ?? (/^(?:0\.0\.0\.0|\[::\])$/.test(url.hostname) ? "localhost" : undefined);
  if (host !== undefined) url.hostname = host;
  return url.href;
}

function rank({ wire }: ListenAddress): number {
  const found = titles.findIndex(([name]) => name === wire);
  return found < 0 ? titles.length : found;
}

function titleOf(wire: string): string {
  return titles.find(([name]) => name === wire)?.[1] ?? wire;
}

/** Clients need the plain URL of the stream. Only our own addresses begin with the wire. */
function shown(wire: string, address: string): string {
  return wire === "sse" ? address.replace(/^sse\+/, "") : address;
}
