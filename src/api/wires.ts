import { type Address, Fault, redactText, type Wire } from "../core/index.js";
import { withBaseTools } from "./base-tools.js";
import { withSseFallback } from "./sse-fallback.js";

const sse = async (): Promise<Wire> => (await import("../wires/sse/index.js")).sse;

interface BuiltIn {
  /** Its addresses, for the error of an unknown one. */
  readonly known: string;
  accepts(address: Address): boolean;
  load(): Promise<Wire>;
}

/** A row for each wire: it is loaded when it is first used, by the scheme of the address. */
const builtIn: readonly BuiltIn[] = [
  { known: "memory:", accepts: scheme(/^memory:/), load: async () => (await import("../wires/memory/index.js")).memory },
  {
    known: "stdio:, { command }",
    accepts: (address) => (typeof address === "string" ? address.startsWith("stdio:") : (address.speaks ?? "stdio") === "stdio"),
    load: async () => (await import("../wires/stdio/index.js")).stdio,
  },
  {
    known: "http(s)://, http+unix:, http+stdio:",
    accepts: isHttp,
    load: async () => withSseFallback((await import("../wires/http/index.js")).http, sse),
  },
  { known: "sse+http(s)://", accepts: scheme(/^sse\+https?:/), load: sse },
  { known: "ws(s)://", accepts: scheme(/^wss?:/), load: async () => (await import("../wires/websocket/index.js")).websocket },
  {
    known: "(tunnel+)grpc(s)://, grpc+unix:, grpc+stdio:",
    accepts: isGrpc,
    load: async () => (await import("../wires/grpc/index.js")).grpc,
  },
  {
    known: "tcp://, tls://, unix:",
    accepts: scheme(/^(tcp|tls|unix):/),
    load: async () => (await import("../wires/lines/index.js")).lines,
  },
  {
    known: "proto+tcp://, proto+tls://, proto+unix:, proto+stdio:",
    accepts: isProto,
    load: async () => withBaseTools((await import("../wires/protomcp/index.js")).protomcp),
  },
  {
    known: "proto+ws(s)://",
    accepts: scheme(/^proto\+wss?:/),
    load: async () => withBaseTools((await import("../wires/websocket/index.js")).websocket),
  },
  {
    known: "proto+grpc(s)://",
    accepts: scheme(/^proto\+grpc/),
    load: async () => withBaseTools((await import("../wires/grpc/index.js")).grpc),
  },
  { known: "and, to listen with every wire, any://", accepts: scheme(/^any(\+unix)?:/), load: async () => (await import("./any.js")).any },
];

function isHttp(address: Address): boolean {
  return typeof address === "string" ? /^https?(\+unix|\+stdio)?:/.test(address) : address.speaks === "http+stdio";
}

function isGrpc(address: Address): boolean {
  return typeof address === "string" ? /^(tunnel\+)?grpc(s|\+unix|\+stdio)?:/.test(address) : address.speaks === "grpc+stdio";
}

function isProto(address: Address): boolean {
  return typeof address === "string" ? /^proto\+(tcp|tls|unix|stdio):/.test(address) : address.speaks === "proto+stdio";
}

function scheme(pattern: RegExp): (address: Address) => boolean {
  return (address) => typeof address === "string" && pattern.test(address);
}

/** The wire for an address: one of the caller's, or a built-in one. */
export async function wireFor(address: Address, wires: readonly Wire[] = []): Promise<Wire> {
  const given = wires.find((wire) => wire.accepts(address));
  if (given !== undefined) return given;
  const found = builtIn.find((entry) => entry.accepts(address));
  if (found !== undefined) return found.load();
  throw new Fault(
    "invalid-params",
    `no wire for the address ${quoted(address)}; known are ${builtIn.map(({ known }) => known).join(", ")}`,
  );
}

function quoted(address: Address): string {
  return JSON.stringify(typeof address === "string" ? redactText(address) : address.command);
}
