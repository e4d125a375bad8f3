import { once } from "node:events";
import type { Server } from "node:net";

/** Listens on a free port of this machine; resolves with its number. */
export async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

/** The number of a port in an address. */
export function hostOf(address: string): string {
  return /\/\/([^/]+)/.exec(address)?.[1] ?? address;
}
