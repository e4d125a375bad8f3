import { lstatSync } from "node:fs";
import type { Server } from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import { Fault } from "../../core/index.js";
import { listenPrivately, removeStale } from "./unix-socket.js";

/** What provides a port with byte streams: connections to a host and port or to a Unix socket, or one existing stream. */
export type Carrier =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
  /** One stream that carries HTTP/2 from the start. The port ends with it. */
  | { readonly stream: Duplex }
  /** The same on two pipes, such as a process's own stdin and stdout. Calls in flight may finish after the end of the input. */
  | Pipes;

export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

export type NetworkCarrier = Exclude<Carrier, { stream: Duplex } | Pipes>;

/** Listens. Resolves with the port that was chosen, 0 for a Unix socket. */
export async function bind(server: Server, carrier: NetworkCarrier): Promise<number> {
  if ("path" in carrier) await removeStale(carrier.path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFault(error, carrier)));
    if ("path" in carrier) listenPrivately(server, carrier.path, resolve);
    else server.listen(carrier.port, carrier.host, resolve);
  });
  return boundPort(server);
}

/** The port that a server listens on; 0 if it is not TCP. */
export function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** `host:port` as in a URL. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function listenFault(error: NodeJS.ErrnoException, carrier: NetworkCarrier): Fault {
  const where = "path" in carrier ? carrier.path : authorityOf(carrier.host, carrier.port);
  if (error.code === "EADDRINUSE") {
    const file = "path" in carrier && lstatSync(carrier.path, { throwIfNoEntry: false })?.isSocket() === false;
    const why = file ? "there is a file that is no socket" : "another program listens there already";
    return new Fault("unavailable", `cannot listen on ${where}: ${why}; choose another`, {
      data: { reason: file ? "cannot-listen" : "address-in-use" },
      cause: error,
    });
  }
  // For a Unix socket the system reports the same if the directory does not exist.
  const refused = "path" in carrier ? "not permitted, or there is no such directory" : "not permitted";
  return new Fault("unavailable", `cannot listen on ${where}: ${error.code === "EACCES" ? refused : error.message}`, {
    data: { reason: "cannot-listen" },
    cause: error,
  });
}
