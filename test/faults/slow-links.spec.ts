import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from "node:net";
import { expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";
import { tls, trust } from "./commenting.js";

/** What goes through every TICK milliseconds, each way. A large message takes many pings, whose answers come behind it. */
const BYTES = 16 * 1024;
const TICK = 20;
const PING = 250;
const LARGE = 1_500_000;

interface SlowLink extends AsyncDisposable {
  through(address: string): string;
}

async function slowLink(port: number): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  const server = createTcp((socket) => {
    const other = connectTcp(port, "127.0.0.1");
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {}).once("close", () => to.destroy());
      from.on("data", (bytes) => {
        from.pause();
        // In pieces, in order, and then the next.
        let at = 0;
        const timer = setInterval(() => {
          to.write(bytes.subarray(at, (at += BYTES)));
          if (at < bytes.length) return;
          clearInterval(timer);
          from.resume();
        }, TICK);
        from.once("close", () => clearInterval(timer));
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    through: (address) => address.replace(/:\d+/, `:${own}`),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const made = createServer({ name: "slow", version: "1" });
made.tool("large", {}, () => "x".repeat(LARGE));
made.tool("length", {}, (args) => String(JSON.stringify(args).length));

const keepalive = { intervalMs: PING, timeoutMs: PING };
const wires = [
  ["websocket", "ws://127.0.0.1:0", {}, { pingMs: PING }, { pingMs: PING }],
  ["gRPC", "grpc://127.0.0.1:0", {}, { keepalive }, { keepalive }],
  ["gRPC on node:http2", "grpc://127.0.0.1:0", { http2: "node" }, { keepalive }, { keepalive }],
  ["HTTP/2", "https://127.0.0.1:0", trust, { pingMs: PING }, { keepAliveMs: PING }],
] as const;

it.each(wires)("a client keeps a server whose large answer arrives slowly: %s", async (_, at, always, pings) => {
  await using listener = await serve(made, at, at.startsWith("https") ? { tls } : {});
  await using link = await slowLink(Number(new URL(listener.address).port));
  await using client = await connect(link.through(listener.address), { ...always, ...pings });
  const { content } = await client.callTool("large", {});
  expect(content).toMatchObject([{ text: "x".repeat(LARGE) }]);
});

it.each(wires)("a server keeps a client whose large call arrives slowly: %s", async (_, at, always, _pings, pings) => {
  await using listener = await serve(made, at, at.startsWith("https") ? { tls, ...pings } : pings);
  await using link = await slowLink(Number(new URL(listener.address).port));
  await using client = await connect(link.through(listener.address), always);
  expect(await client.callTool("length", { text: "x".repeat(LARGE) })).toMatchObject({ content: [{ text: String(LARGE + 11) }] });
});
