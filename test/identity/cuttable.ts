import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A forwarder of TCP connections whose wires can be cut. */
export interface Cuttable {
  readonly port: number;
  /** Connections that were made through it so far. */
  readonly count: number;
  /** Destroys every connection that goes through it; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

export async function cuttable(to: number): Promise<Cuttable> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((near) => {
    count++;
    const far = connect(to, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get count() {
      return count;
    },
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
