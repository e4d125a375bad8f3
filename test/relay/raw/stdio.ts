import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { hostOf, portOf } from "./sockets.js";
import type { RawWire, Take } from "./types.js";

const pipe = fileURLToPath(new URL("pipe.mjs", import.meta.url));

/** Lines by their newlines alone: readline would also cut at U+2028. */
function lines(stream: Readable, take: Take): void {
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      if (end > 0) take(rest.subarray(0, end).toString("utf8"));
      rest = rest.subarray(end + 1);
    }
  });
  stream.on("error", () => {});
}

export const stdio: RawWire = {
  /** The address is the command of the relay, as JSON. */
  async client(address, _era, take) {
    const [command, ...args] = JSON.parse(address) as [string, ...string[]];
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    lines(child.stdout, take);
    child.stdin.on("error", () => {});
    return {
      send: (text) => void child.stdin.write(`${text}\n`),
      async close() {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      },
    };
  },
  async server(_era, take) {
    const { port, send, close } = await lineServer(take);
    return { address: { command: process.execPath, args: [pipe, String(port)] }, send, close };
  },
};

/** The same lines on a connection. */
export const tcp: RawWire = {
  async client(address, _era, take) {
    const socket = connect(Number(hostOf(address).split(":")[1]), "127.0.0.1");
    lines(socket, take);
    return {
      send: (text) => void socket.write(`${text}\n`),
      read: (on) => void (on ? socket.resume() : socket.pause()),
      async close() {
        socket.destroy();
      },
    };
  },
  async server(_era, take, wanted) {
    const { port, send, close } = await lineServer(take, wanted);
    return { address: `tcp://127.0.0.1:${port}`, send, close };
  },
};

async function lineServer(take: Take, wanted?: number): Promise<{ port: number; send(text: string): void; close(): Promise<void> }> {
  let current: Socket | undefined;
  const listener = createServer((socket) => {
    current = socket;
    lines(socket, take);
  });
  const port = await portOf(listener, wanted);
  return {
    port,
    send: (text) => void current?.write(`${text}\n`),
    async close() {
      current?.destroy();
      listener.close();
    },
  };
}
