import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  connect,
  createServer,
  type Fault,
  type Identity,
  type ServeListener,
  type ServeOptions,
  type Server,
  serve,
} from "../../src/api/index.js";
import { heldBytes } from "../../src/core/index.js";
import { authority } from "../fixtures/certificates.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const echoing = (): Server => createServer({ name: "echo", version: "1" }).tool("echo", {}, ({ text }) => String(text));

async function served(options: ServeOptions = {}, service = echoing(), address = "tcp://127.0.0.1:0"): Promise<ServeListener> {
  const listener = await serve(service, address, { drainMs: 0, ...options });
  cleanups.push(() => listener.close());
  return listener;
}

function socketTo({ address }: ServeListener): Socket {
  const socket = connectSocket(Number(new URL(address).port), "127.0.0.1").on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

const ping = (id: number): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;

async function heard(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => {
    text += String(chunk);
  });
  await once(socket, "close");
  return text;
}

describe("lines", () => {
  it("answers a client that closes its side after its requests", async () => {
    const socket = socketTo(await served());
    socket.end(ping(1) + ping(2));
    expect(
      (await heard(socket))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });

  it("takes a message that comes byte by byte, and gives one that never ends its time", async () => {
    const socket = socketTo(await served({ limits: { messageMs: 300 } }));
    const answer = heard(socket);
    for (const byte of ping(7)) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write('{"jsonrpc":');
    const [first, last] = (await answer)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ id: 7, result: {} });
    expect(last).toMatchObject({ id: null, error: { data: { limit: "messageMs" } } });
  });

  it("counts incomplete messages of many connections, refuses what is too much, and forgets it", async () => {
    const faults: Fault[] = [];
    const limits = { connectionBytes: 1 << 20, processBytes: heldBytes() + (2 << 20), reserveBytes: 1 << 16 };
    const listener = await served({ limits, onFault: (fault) => faults.push(fault) });
    const part = "x".repeat(900 * 1024);
    const sockets = Array.from({ length: 6 }, () => socketTo(listener));
    for (const socket of sockets) {
      socket.resume();
      socket.write(`{"jsonrpc":"2.0","id":1,"method":"${part}`);
    }
    await vi.waitFor(() => expect(faults.length).toBeGreaterThanOrEqual(4), { timeout: 10_000 });
    expect(faults.every(({ code }) => code === "overload")).toBe(true);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(() => expect(heldBytes()).toBe(0), { timeout: 10_000 });
  });

  it("closes the connection of a client that reads nothing", async () => {
    const listener = await served({ limits: { stalledMs: 500 } });
    const socket = socketTo(listener);
    // Only then does it stop: a socket that connects begins to read by itself.
    await once(socket, "connect");
    socket.pause();
    const call = (id: number): string =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text: "y".repeat(64 * 1024) } } })}\n`;
    const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: initialize })}\n`);
    socket.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let id = 1; id <= 400; id++) socket.write(call(id));
    await closed;
    await vi.waitFor(() => expect(heldBytes()).toBe(0), { timeout: 10_000 });
  });

  it("connects again when its server is back", async () => {
    const first = await served();
    const { port } = new URL(first.address);
    await using client = await connect(first.address, { reconnectMs: 20_000 });
    expect(await client.callTool("echo", { text: "a" })).toMatchObject({ content: [{ text: "a" }] });
    await first.close();
    await served({}, echoing(), `tcp://127.0.0.1:${port}`);
    expect(await client.callTool("echo", { text: "b" })).toMatchObject({ content: [{ text: "b" }] });
  });

  it("is for its own user alone on a Unix socket", async () => {
    const path = join(tmpdir(), `${randomUUID()}.sock`);
    for (const scheme of ["unix", "http+unix", "any+unix"]) {
      const listener = await served({}, echoing(), `${scheme}:${path}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      for (const { address } of listener.addresses) {
        await using client = await connect(address);
        expect(await client.callTool("echo", { text: address })).toMatchObject({ content: [{ text: address }] });
      }
      await listener.close();
    }
  });

  it("knows a client by its certificate, and lets in none without", async () => {
    const signer = authority();
    const callers: Identity[] = [];
    const service = createServer({ name: "who", version: "1" }).tool("who", {}, (_args, ctx) => {
      callers.push(ctx.client.identity);
      return "seen";
    });
    const tls = { ...signer.issue("127.0.0.1"), ca: signer.cert, requestClientCert: true };
    const listener = await served({ tls }, service, "tls://127.0.0.1:0");
    await using client = await connect(listener.address, { tls: { ca: signer.cert, ...signer.issue("client.test") } });
    await client.callTool("who");
    expect(callers.map(({ principal }) => principal)).toEqual(["client.test"]);
    await expect(connect(listener.address, { tls: { ca: signer.cert }, handshakeMs: 5_000 })).rejects.toMatchObject({
      code: "unavailable",
    });
  });

  it("names the socket that cannot be reached or listened on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "anywire-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "missing.sock");
    await expect(connect(`http+unix:${path}`)).rejects.toMatchObject({ message: `cannot reach unix:${path}: there is no such socket` });
    const file = join(folder, "notes.txt");
    writeFileSync(file, "notes");
    await expect(served({}, echoing(), `unix:${file}`)).rejects.toMatchObject({
      message: `cannot listen on ${file}: there is a file that is no socket; choose another`,
    });
    expect(readFileSync(file, "utf8")).toBe("notes");
    await served({}, echoing(), `unix:${path}`);
    await expect(served({}, echoing(), `http+unix:${path}`)).rejects.toMatchObject({ data: { reason: "address-in-use" } });
  });

  it("says what is wrong with an address, and what cannot be reached", async () => {
    await expect(connect("tcp://a b")).rejects.toMatchObject({ code: "invalid-params" });
    await expect(connect(`unix:${join(tmpdir(), randomUUID())}`)).rejects.toMatchObject({
      code: "unavailable",
      data: { reason: "ENOENT" },
    });
    for (const scheme of ["tcp", "any"])
      await expect(served({}, echoing(), `${scheme}://127.0.0.1:0/mcp`)).rejects.toThrow(`${scheme}:// takes no path: leave out /mcp`);
    await expect(connect("any://127.0.0.1:1")).rejects.toMatchObject({ code: "invalid-params" });
    const tls = authority().issue("127.0.0.1");
    await expect(serve(echoing(), "tcp://127.0.0.1:0", { tls })).rejects.toThrow("tls://");
  });
});
