import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import type { Limits } from "../../core/index.js";
import type { Exchange } from "../http/exchange.js";
import { PlainConnections } from "./plain-connection.js";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Lab {
  readonly connections: PlainConnections;
  readonly exchanges: Exchange[];
  /** What was handed to the other server. */
  readonly others: string[];
  client(): Promise<{ readonly socket: Socket; text: string; ended: boolean }>;
}

async function lab(limits?: Partial<Limits>, headersMs = 10_000): Promise<Lab> {
  const exchanges: Exchange[] = [];
  const others: string[] = [];
  const connections = new PlainConnections({
    headersMs,
    limits,
    take: () => (exchange) => void exchanges.push(exchange),
    others: (_socket, bytes) => void others.push(bytes.toString()),
  });
  const server = createServer((socket) => {
    socket.on("error", () => {});
    ends.push(() => socket.destroy());
    socket.once("data", (first) => {
      socket.pause();
      connections.take(socket, first);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    connections,
    exchanges,
    others,
    async client() {
      const socket = connect(port, "127.0.0.1").setNoDelay(true);
      const seen = { socket, text: "", ended: false };
      socket.on("data", (bytes) => (seen.text += bytes.toString("latin1"))).on("end", () => (seen.ended = true));
      ends.push(() => socket.destroy());
      await once(socket, "connect");
      return seen;
    },
  };
}

const request = (more = ""): string => `POST / HTTP/1.1\r\nhost: localhost\r\n${more}content-length: 2\r\n\r\n{}`;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

it("ends idle connections when it closes, and the others with their last answer, which says so", async () => {
  const at = await lab();
  const [idle, busy] = [await at.client(), await at.client()];
  idle.socket.write(request());
  await until(() => at.exchanges.length === 1);
  at.exchanges[0]?.reply(200, {}, "{}");
  busy.socket.write(request());
  await until(() => at.exchanges.length === 2);
  at.connections.close();
  await until(() => idle.ended);
  expect(busy.ended).toBe(false);
  at.exchanges[1]?.reply(200, {}, "last");
  await until(() => busy.ended);
  expect(idle.text).toContain("\r\nconnection: keep-alive\r\n");
  expect(busy.text).toMatch(/\r\nconnection: close\r\n(.+\r\n)*\r\nlast$/);
});

it("answers a request whose body is still to come when it closes", async () => {
  const at = await lab();
  const client = await at.client();
  client.socket.write(request().slice(0, -2));
  // Time enough for the head to come.
  await new Promise((resolve) => setTimeout(resolve, 20));
  at.connections.close();
  client.socket.write("{}");
  await until(() => at.exchanges.length === 1);
  at.exchanges[0]?.reply(503, {}, "closing");
  await until(() => client.ended);
  expect(client.text).toMatch(/^HTTP\/1\.1 503 .+\r\n(.+\r\n)*connection: close\r\n(.+\r\n)*\r\nclosing$/);
});

it("ends a connection that is idle for more than a minute, and none that waits for its answer", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  ends.push(() => vi.useRealTimers());
  const at = await lab();
  const [idle, busy] = [await at.client(), await at.client()];
  idle.socket.write(request());
  await until(() => at.exchanges.length === 1);
  at.exchanges[0]?.reply(200, {});
  busy.socket.write(request());
  await until(() => at.exchanges.length === 2);
  vi.advanceTimersByTime(59_000);
  idle.socket.write(request());
  await until(() => at.exchanges.length === 3);
  at.exchanges[2]?.reply(200, {});
  vi.advanceTimersByTime(59_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(idle.ended).toBe(false);
  vi.advanceTimersByTime(30_000);
  await until(() => idle.ended);
  expect(busy.ended).toBe(false);
  at.exchanges[1]?.reply(200, {});
  await until(() => busy.text !== "");
});

it("looks at no further request while its client has not taken the answer", async () => {
  const at = await lab();
  const client = await at.client();
  client.socket.pause().write(request());
  await until(() => at.exchanges.length === 1);
  const answer = "x".repeat(32 * 1024 * 1024);
  at.exchanges[0]?.reply(200, {}, answer);
  client.socket.write(request("x-second: 1\r\n"));
  // Time enough for it to come: nothing tells that something does not happen.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([at.exchanges.length, at.others.length]).toEqual([1, 0]);
  expect(at.exchanges[0]?.account.unwritten).toBeGreaterThan(0);
  client.socket.resume();
  await until(() => at.others.length === 1);
  expect(at.others[0]).toContain("x-second");
  expect(at.exchanges[0]?.account.unwritten).toBe(0);
});

it("counts a request while it is open, and refuses one that there is no room for", async () => {
  const at = await lab({ connectionBytes: 6 * 1024, reserveBytes: 0 });
  const client = await at.client();
  client.socket.write(request());
  await until(() => at.exchanges.length === 1);
  expect(at.exchanges[0]?.account.bytes).toBeGreaterThan(4 * 1024);
  at.exchanges[0]?.reply(200, {}, "{}");
  expect(at.exchanges[0]?.account.bytes).toBe(0);
  client.socket.write(request(`x-long: ${"x".repeat(3 * 1024)}\r\n`));
  await until(() => client.text.includes("HTTP/1.1 503") || client.text.includes("HTTP/1.1 429"));
  client.socket.write(request());
  await until(() => at.exchanges.length === 2);
});

it("waits once for a body that follows its head, and leaves one that is slower to the other server", async () => {
  const at = await lab();
  const [apart, dribbled] = [await at.client(), await at.client()];
  const pause = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 5));
  apart.socket.write(request().slice(0, -2));
  await pause();
  apart.socket.write("{}");
  await until(() => at.exchanges.length === 1);
  expect(await at.exchanges[0]?.body(10)).toBe("{}");
  at.exchanges[0]?.reply(200, {});
  expect(at.exchanges[0]?.account.bytes).toBe(0);
  dribbled.socket.write(request().slice(0, -2));
  await pause();
  dribbled.socket.write("{");
  await until(() => at.others.length === 1);
  const hasty = await lab(undefined, 10);
  (await hasty.client()).socket.write(request().slice(0, -2));
  await until(() => hasty.others.length === 1);
  expect(hasty.others).toEqual([request().slice(0, -2)]);
});

it("writes a streamed answer in chunks, of text and of bytes", async () => {
  const at = await lab();
  const client = await at.client();
  client.socket.write(request());
  await until(() => at.exchanges.length === 1);
  const outlet = at.exchanges[0]?.stream(200, { "content-type": "text/plain" });
  await outlet?.write("");
  await outlet?.write("é", Uint8Array.of(65, 66));
  await outlet?.write("cd", "e");
  outlet?.end();
  // It is over: neither reaches the next answer.
  void outlet?.write("late");
  outlet?.abort();
  await until(() => client.text.endsWith("\r\n0\r\n\r\n"));
  expect(client.text.split("\r\n\r\n").slice(1).join("|")).toBe("4\r\n\xc3\xa9AB\r\n3\r\ncde\r\n0|");
  expect(client.text).toContain("\r\ntransfer-encoding: chunked\r\n");
  client.socket.write(request());
  await until(() => at.exchanges.length === 2);
});

it("sends no header that would end its line", async () => {
  const at = await lab();
  const client = await at.client();
  client.socket.write(request());
  await until(() => at.exchanges.length === 1);
  expect(() => at.exchanges[0]?.reply(200, { "x-a": "1\r\nx-b: 2" })).toThrow("characters");
  at.exchanges[0]?.reply(500, {});
  await until(() => client.text.startsWith("HTTP/1.1 500 Internal Server Error\r\n"));
});
