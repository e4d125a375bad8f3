import { connect, createServer, type Socket } from "node:net";

export interface Dribble extends AsyncDisposable {
  readonly port: number;
}

/** Bytes of a connection that come one at a time. */
const FIRST = 24;

/** A proxy that passes on what clients send first byte by byte, each in a packet of its own. */
export async function dribble(to: number): Promise<Dribble> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect({ host: "127.0.0.1", port: to, noDelay: true });
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => open.delete(socket));
    }
    behind.pipe(client);
    void slowly(client, behind);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function slowly(client: Socket, behind: Socket): Promise<void> {
  let left = FIRST;
  try {
    for await (const chunk of client as AsyncIterable<Buffer>) {
      const head = chunk.subarray(0, left);
      left -= head.length;
      for (const byte of head) {
        behind.write(Buffer.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      if (head.length < chunk.length && !behind.write(chunk.subarray(head.length)))
        await new Promise((resolve) => behind.once("drain", resolve).once("close", resolve));
    }
    behind.end();
  } catch {
    behind.destroy();
  }
}
