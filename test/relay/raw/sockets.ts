import { once } from "node:events";
import type { Server } from "node:net";

/** Listens on a port of this machine, a free one unless given; resolves with its number. */
export async function portOf(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

/** The number of a port in an address. */
export function hostOf(address: string): string {
  return /\/\/([^/]+)/.exec(address)?.[1] ?? address;
}
