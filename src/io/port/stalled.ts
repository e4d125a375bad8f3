import { timerMs } from "../../stream/index.js";

/** A connection that may hold data for a client that does not read it. */
export interface Stallable {
  /** Bytes that wait for the client. */
  unwritten(): number;
  /** A value that changes whenever the client takes something. */
  taken(): string;
  close(): void;
}

/** Closes connections whose clients read nothing for `ms` although data waits for them. The returned function stops the check. */
export function closeStalled(connections: Iterable<Stallable>, ms: number): () => void {
  const still = new Map<Stallable, { taken: string; since: number }>();
  const look = (): void => {
    const open = new Set<Stallable>();
    for (const connection of connections) {
      if (connection.unwritten() === 0) continue;
      open.add(connection);
      const taken = `${connection.taken()} ${connection.unwritten()}`;
      const known = still.get(connection);
      if (known === undefined || known.taken !== taken) still.set(connection, { taken, since: Date.now() });
      else if (Date.now() - known.since >= ms) connection.close();
    }
    for (const connection of still.keys()) if (!open.has(connection)) still.delete(connection);
  };
  const timer = setInterval(look, timerMs(Math.max(ms / 4, 10))).unref();
  return () => clearInterval(timer);
}

interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/**
 * How far a socket has sent. Node's own count of written bytes includes those that still wait, so a large write would look like a stall.
 */
export function progressOf(socket: object | undefined): string {
  const { _handle, _parent } = (socket ?? {}) as {
    readonly _handle?: Handle | null;
    readonly _parent?: { readonly _handle?: Handle | null };
  };
  // Over TLS the socket below has the numbers.
  return [_handle, _parent?._handle].map((handle) => `${handle?.bytesWritten} ${handle?.writeQueueSize}`).join(" ");
}
