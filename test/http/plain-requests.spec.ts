import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { modern, modernHeaders, open, until } from "./requests.js";

/** A socket that says what came on it, as text. */
interface Raw {
  readonly socket: Socket;
  text: string;
  closed: boolean;
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function raw(url: string): Promise<Raw> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  sockets.push(socket);
  const seen: Raw = { socket, text: "", closed: false };
  socket.on("data", (bytes) => (seen.text += bytes.toString()));
  socket.on("error", () => {}).on("close", () => (seen.closed = true));
  await once(socket, "connect");
  return seen;
}

function request(url: string, id: number, name: string, args: Record<string, unknown> = {}, more: readonly string[] = []): string {
  const body = modern(id, "tools/call", { name, arguments: args, _meta: { progressToken: id } });
  const text = JSON.stringify(body);
  const headers = { host: new URL(url).host, ...modernHeaders(body), "content-length": String(Buffer.byteLength(text)) };
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  return `${["POST /mcp HTTP/1.1", ...lines, ...more].join("\r\n")}\r\n\r\n${text}`;
}

const ids = (text: string): number[] => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
/** An answer as it can be compared: headers by name, without the time. */
function answer(text: string): string[] {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  const [status = "", ...headers] = head.split("\r\n");
  const named = headers.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).filter((line) => !line.startsWith("date:"));
  return [status, ...named.sort(), body];
}

it("answers a request that comes in one piece as it answers one that comes in two", async () => {
  await using at = await open();
  const [whole, halves] = [await raw(at.url), await raw(at.url)];
  const bytes = request(at.url, 1, "echo", { text: "grün €" });
  whole.socket.write(bytes);
  halves.socket.write(bytes.slice(0, 40));
  await new Promise((resolve) => setTimeout(resolve, 30));
  halves.socket.write(bytes.slice(40));
  await until(() => ids(whole.text).length === 1 && ids(halves.text).length === 1);
  expect(answer(whole.text)).toEqual(answer(halves.text));
  expect(whole.text).toMatch(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)*date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/);
});

it("answers in order what comes ahead of its turn, whichever way it comes", async () => {
  await using at = await open();
  const peer = await raw(at.url);
  // Both at once, then one behind one that is being answered, then one by itself.
  peer.socket.write(request(at.url, 1, "echo") + request(at.url, 2, "echo"));
  await until(() => ids(peer.text).length === 2);
  const other = await raw(at.url);
  other.socket.write(request(at.url, 3, "count", { n: 3 }));
  other.socket.write(request(at.url, 4, "echo", {}, ["x-other: 1"]));
  await until(() => ids(other.text).includes(4));
  other.socket.write(request(at.url, 5, "echo"));
  await until(() => ids(other.text).includes(5));
  expect(ids(peer.text)).toEqual([1, 2]);
  expect(ids(other.text)).toEqual([3, 4, 5]);
});

it("keeps a connection through answers, streams of events and refusals", async () => {
  await using at = await open();
  const peer = await raw(at.url);
  peer.socket.write(request(at.url, 1, "echo"));
  await until(() => ids(peer.text).includes(1));
  peer.socket.write(request(at.url, 2, "count", { n: 3 }));
  await until(() => peer.text.endsWith("\r\n0\r\n\r\n"));
  expect(peer.text.match(/"progress":\d/g)).toEqual(['"progress":1', '"progress":2', '"progress":3']);
  peer.socket.write(request(at.url, 3, "echo").replace("/mcp", "/none"));
  await until(() => peer.text.includes("HTTP/1.1 404"));
  peer.socket.write(request(at.url, 4, "echo").replace(/host: .*/, "host: evil.example"));
  await until(() => peer.text.includes("HTTP/1.1 403"));
  peer.socket.write(request(at.url, 5, "echo"));
  await until(() => ids(peer.text).includes(5));
  expect(peer.closed).toBe(false);
});

it("ends a call whose client has gone", async () => {
  await using at = await open();
  for (const leave of ["destroy", "end"] as const) {
    const peer = await raw(at.url);
    peer.socket.write(request(at.url, 1, "wait", { key: leave }));
    await until(() => at.waiting.has(leave));
    peer.socket[leave]();
    await until(() => !at.waiting.has(leave));
  }
});

it("ends the connections when the listener closes: idle ones at once, the others with their answer", async () => {
  const at = await open({ drainMs: 0 });
  const [idle, busy] = [await raw(at.url), await raw(at.url)];
  idle.socket.write(request(at.url, 1, "echo"));
  await until(() => ids(idle.text).length === 1);
  busy.socket.write(request(at.url, 2, "wait", { key: "x" }));
  await until(() => at.waiting.has("x"));
  await at.listener.close();
  await until(() => idle.closed && busy.closed);
  expect(busy.text).toContain('"reason":"closing"');
});

it("does not go on reading from a client that takes no answers", async () => {
  await using at = await open();
  const peer = await raw(at.url);
  peer.socket.pause();
  const text = "x".repeat(40_000);
  let sent = 0;
  while (peer.socket.writableLength < 1024 * 1024 && sent < 2_000) {
    peer.socket.write(request(at.url, ++sent, "echo", { text }));
    await new Promise(setImmediate);
  }
  expect(sent).toBeLessThan(2_000);
  expect(at.calls.length).toBeLessThan(sent);
  peer.socket.resume();
  await until(() => at.calls.length === sent && ids(peer.text).length === sent);
  expect(ids(peer.text)).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
});
