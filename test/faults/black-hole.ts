import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy on loopback that stops forwarding and keeps its connections, as a network does that has forgotten them. */
export interface BlackHole extends AsyncDisposable {
  /** An address, through the proxy. */
  through(address: string): string;
  /** What clients have said so far. */
  readonly said: string;
  /** Forwards nothing any more, either way: on the connections there are, or on new ones, too. */
  swallow(what: "old" | "all"): void;
}

export async function blackHole(address: string): Promise<BlackHole> {
  const to = Number(/:(\d+)/.exec(address)?.[1]);
  const sockets = new Set<Socket>();
  let said = "";
  let from = 0;
  let count = 0;
  const kept = (socket: Socket): Socket => {
    sockets.add(socket.on("error", () => {}));
    return socket;
  };
  const server = createServer((client) => {
    const number = count++;
    const swallowed = (): boolean => number < from;
    const upstream = kept(connect({ host: "127.0.0.1", port: to, noDelay: true }));
    kept(client).setNoDelay(true);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("data", (bytes) => {
        if (one === client) said += bytes.toString("latin1");
        if (!swallowed()) other.write(bytes);
      });
      one.on("close", () => {
        if (!swallowed()) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    through: (inner) => inner.replace(`:${to}`, `:${port}`),
    get said() {
      return said;
    },
    swallow(what) {
      from = what === "all" ? Number.POSITIVE_INFINITY : count;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
