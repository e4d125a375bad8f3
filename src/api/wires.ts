import { type Address, Fault, redactText, type Wire } from "../core/index.js";
import { withBaseTools } from "./base-tools.js";
import { withSseFallback } from "./sse-fallback.js";

const sse = async (): Promise<Wire> => (await import("../wires/sse/index.js")).sse;

/** Wires are loaded when they are first used, by the scheme of the address. */
const builtIn: readonly { accepts(address: Address): boolean; load(): Promise<Wire> }[] = [
  { accepts: scheme(/^memory:/), load: async () => (await import("../wires/memory/index.js")).memory },
  { accepts: isHttp, load: async () => withSseFallback((await import("../wires/http/index.js")).http, sse) },
  { accepts: scheme(/^sse\+https?:/), load: sse },
  { accepts: scheme(/^proto\+grpc/), load: async () => withBaseTools((await import("../wires/grpc/index.js")).grpc) },
  { accepts: scheme(/^proto\+wss?:/), load: async () => withBaseTools((await import("../wires/websocket/index.js")).websocket) },
  { accepts: isGrpc, load: async () => (await import("../wires/grpc/index.js")).grpc },
  { accepts: scheme(/^(tcp|tls|unix):/), load: async () => (await import("../wires/lines/index.js")).lines },
  { accepts: isProto, load: async () => withBaseTools((await import("../wires/protomcp/index.js")).protomcp) },
  { accepts: scheme(/^any(\+unix)?:/), load: async () => (await import("./any.js")).any },
  { accepts: scheme(/^(proto\+)?wss?:/), load: async () => (await import("../wires/websocket/index.js")).websocket },
  {
    accepts: (address) => (typeof address === "string" ? address.startsWith("stdio:") : (address.speaks ?? "stdio") === "stdio"),
    load: async () => (await import("../wires/stdio/index.js")).stdio,
  },
];

function isHttp(address: Address): boolean {
  return typeof address === "string" ? /^https?(\+unix|\+stdio)?:/.test(address) : address.speaks === "http+stdio";
}

function isGrpc(address: Address): boolean {
  return typeof address === "string" ? /^((tunnel|proto)\+)?grpc(s|\+unix|\+stdio)?:/.test(address) : address.speaks === "grpc+stdio";
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
  throw new Fault("invalid-params", `no wire for the address ${quoted(address)}; known are ${schemes}`);
}

const schemes =
  "memory:, stdio:, { command }, http(s)://, http+unix:, http+stdio:, sse+http(s)://, ws(s)://, (tunnel+)grpc(s)://, grpc+unix:, grpc+stdio:, tcp://, tls://, unix:, proto+tcp://, proto+tls://, proto+unix:, proto+stdio:, proto+ws(s)://, proto+grpc(s):// and, to listen with every wire, any://";

function quoted(address: Address): string {
  return JSON.stringify(typeof address === "string" ? redactText(address) : address.command);
}
