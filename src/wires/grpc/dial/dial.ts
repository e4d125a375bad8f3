import { type Address, type Connection, grpcStatuses, limitsOf, lowerCase } from "../../../core/index.js";
import { dialLink, type Link, renewing } from "../../../era/index.js";
import { type Channel, grpcChannel, type Metadata, secureContext, statusFault } from "../../../io/index.js";
import { grpcPlaceOf, targetsOf } from "../address.js";
import { dialTunnel } from "../tunnel/dial.js";
import type { GrpcDialOptions } from "./options.js";
import { ping } from "./ping.js";
import { rpcLink } from "./rpc-link.js";

/** Connections for many concurrent calls as RPCs. */
const CONNECTIONS = 4;

export async function dial(address: Address, options: GrpcDialOptions): Promise<Connection> {
  const place = grpcPlaceOf(address);
  const { keepalive, gzip, limits } = options;
  const channel = grpcChannel(targetsOf(place, place.scheme === "grpcs" ? secureContext(options.tls) : undefined), {
    keepalive,
    gzip,
    http2: options.http2,
    messageBytes: limits?.messageBytes,
    spread: options.connections ?? (options.calls === "rpc" ? CONNECTIONS : 1),
  });
  const dialect = String(address).startsWith("tunnel+") ? "tunnel" : (options.dialect ?? "auto");
  return dialChannel(channel, { ...options, dialect }, true);
}

/** Opens the server behind a channel. `lasting`: the channel reconnects when its connection is lost. */
export async function dialChannel(channel: Channel, options: GrpcDialOptions, lasting: boolean): Promise<Connection> {
  try {
    const { link, wire } = await linkFor(channel, options, lasting);
    return await dialLink(link, { ...options, wire });
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** Finds out what the server supports, with one empty call. */
async function linkFor(
  channel: Channel,
  options: GrpcDialOptions,
  lasting: boolean,
): Promise<{ readonly link: Link; readonly wire: "grpc" | "tunnel" }> {
  const metadata: Metadata = lowerCase(options.headers);
  const limits = limitsOf(options.limits);
  const open = (): Link => dialTunnel(channel, metadata, limits, options.tunnelPath);
  const connect = lasting ? async () => open() : undefined;
  const tunnel = () => ({
    link: renewing(open(), { ...options, wire: "tunnel", connect, released: () => channel.close() }),
    wire: "tunnel" as const,
  });
  if (options.dialect === "tunnel") return tunnel();
  const { isAnywirePeer, status } = await ping(channel, metadata, options);
  if (status.code === grpcStatuses["unknown-method"] && options.dialect !== "mcp.v1") return tunnel();
  if (status.code !== 0 && status.code !== grpcStatuses["unknown-method"]) throw statusFault(status);
  const { calls = "session", ...common } = options;
  return {
    link: rpcLink(channel, { ...common, metadata, ...(isAnywirePeer ? { isAnywirePeer: { calls, lasting } } : undefined) }),
    wire: "grpc",
  };
}
