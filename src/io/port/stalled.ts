/** A connection that may hold something for a client that takes nothing of it. */
export interface Stallable {
  /** Bytes that wait for the client. */
  unwritten(): number;
  /** Changes whenever it takes something. */
  taken(): string;
  close(): void;
}

/** Closes the connections whose clients take nothing for `ms` although something waits for them. The returned function stops that. */
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
  const timer = setInterval(look, Math.max(ms / 4, 10)).unref();
  return () => clearInterval(timer);
}

interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/** How far a socket is. Node's own count of written bytes has those that wait in it, so that a large write would look like a halt. */
export function progressOf(socket: object | undefined): string {
  const { _handle, _parent } = (socket ?? {}) as {
    readonly _handle?: Handle | null;
    readonly _parent?: { readonly _handle?: Handle | null };
  };
  // Over TLS it is the socket below that knows.
  return [_handle, _parent?._handle].map((handle) => `${handle?.bytesWritten} ${handle?.writeQueueSize}`).join(" ");
}
