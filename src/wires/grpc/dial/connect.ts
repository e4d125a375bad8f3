import { type Connection, lowerCase } from "../../../core/index.js";
import { dialLink } from "../../../era/index.js";
import { statusFault } from "../../../io/grpc/portable.js";
import type { Channel } from "../../../io/index.js";
import { rpcs, SERVICE } from "../names.js";
import type { GrpcDialOptions } from "./options.js";
import { ping } from "./ping.js";
import { rpcLink } from "./rpc-link.js";

/** Dials `mcp.v1` on a channel without streams both ways, such as Connect's in a page: each call is an RPC of its own. */
export async function dialRpcs(channel: Channel, options: GrpcDialOptions): Promise<Connection> {
  const metadata = lowerCase(options.headers);
  const { isAnywirePeer, status } = await ping(channel, metadata, options);
  if (status.code !== 0) throw statusFault(status);
  const link = rpcLink(channel, {
    ...options,
    metadata,
    ...(isAnywirePeer ? { isAnywirePeer: { calls: "rpc", lasting: "never" } } : undefined),
  });
  return dialLink(link, options);
}

/** Whether the RPC of a path is answered with one message. */
export function isUnary(path: string): boolean {
  return rpcs.get(path.slice(SERVICE.length))?.answer === "one";
}
