import { request } from "node:http";
import { createServer as listenOn } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connect, createServer, type Observer, type ServeListener, type ServeOptions, serve } from "../../src/api/index.js";
import { authority } from "../fixtures/certificates.js";
import { kinds, rawSocket, type Target } from "./clients.js";
import { dribble } from "./dribble.js";

const signer = authority();
const tls = signer.issue("127.0.0.1", "localhost");
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Served {
  readonly listener: ServeListener;
  readonly port: number;
  /** Which wire was each text called on. */
  readonly served: ReadonlyMap<string, string>;
}

async function served(options: ServeOptions = {}): Promise<Served> {
  const wires = new Map<string, string>();
  const started: string[] = [];
  const observe: Observer = {
    call: (event) => {
      if (event.kind === "start" && event.call.method === "tools/call") started.push(event.call.wire);
    },
  };
  const server = createServer({ name: "any", version: "1" }).tool("echo", {}, ({ text }) => {
    wires.set(String(text), started.shift() ?? "nobody");
    return String(text);
  });
  const listener = await serve(server, "any://127.0.0.1:0", { observe, drainMs: 0, ...options });
  cleanups.push(() => listener.close());
  return { listener, port: Number(new URL(listener.address).port), served: wires };
}

/** 64 clients of all kinds at once. */
async function everybody(target: Target): Promise<Map<string, string>> {
  const expected = new Map<string, string>();
  const calls = Array.from({ length: 64 }, async (_, at) => {
    const [wire, name, call] = kinds[at % kinds.length] as (typeof kinds)[number];
    const text = `${name} ${at}`;
    expected.set(text, wire);
    expect(await call(target, text)).toBe(text);
  });
  await Promise.all(calls);
  return expected;
}

describe("every wire on one port", () => {
  for (const [name, ca] of [
    ["plain", undefined],
    ["with TLS", signer.cert],
  ] as const) {
    const options = ca === undefined ? {} : { tls };

    it(`${name}: serves 64 clients of all kinds, each by its own wire`, async () => {
      const { port, served: by } = await served(options);
      const expected = await everybody({ port, ca });
      expect(new Map([...by].sort())).toEqual(new Map([...expected].sort()));
    });

    it(`${name}: serves them when their first bytes come one at a time`, async () => {
      const { port, served: by } = await served(options);
      await using slow = await dribble(port);
      const expected = await everybody({ port: slow.port, ca });
      expect(new Map([...by].sort())).toEqual(new Map([...expected].sort()));
    });

    it(`${name}: its addresses can be dialed`, async () => {
      const { listener, port } = await served(options);
      const at = `127.0.0.1:${port}`;
      const s = ca === undefined ? "" : "s";
      expect(listener.addresses).toEqual([
        { wire: "http", address: `http${s}://${at}/mcp` },
        { wire: "sse", address: `sse+http${s}://${at}/sse` },
        { wire: "websocket", address: `ws${s}://${at}/mcp` },
        { wire: "grpc", address: `grpc${s}://${at}` },
        { wire: "tunnel", address: `tunnel+grpc${s}://${at}` },
        { wire: "proto-grpc", address: `proto+grpc${s}://${at}` },
        { wire: "lines", address: `${ca === undefined ? "tcp" : "tls"}://${at}` },
        { wire: "proto", address: `proto+${ca === undefined ? "tcp" : "tls"}://${at}` },
        { wire: "proto-websocket", address: `proto+ws${s}://${at}/proto` },
      ]);
      for (const { address } of listener.addresses) {
        await using client = await connect(address, ca === undefined ? {} : { tls: { ca } });
        expect(await client.callTool("echo", { text: address })).toMatchObject({ content: [{ text: address }] });
      }
    });
  }

  it("serves plain text beside TLS on loopback, and not where certificates are asked of clients", async () => {
    const [, , lines] = kinds.find(([wire]) => wire === "lines") as (typeof kinds)[number];
    const both = await served({ tls });
    expect(await lines({ port: both.port }, "plain")).toBe("plain");
    const strict = await served({ tls: { ...tls, ca: signer.cert, requestClientCert: true } });
    await expect(lines({ port: strict.port }, "plain")).rejects.toThrow();
    expect(strict.served.size).toBe(0);
  });

  it("does not serve lines where credentials are demanded, unless the client has a certificate", async () => {
    const auth = { verify: (token: string) => (token === "good" ? { id: "someone" } : undefined) };
    const [, , lines] = kinds.find(([wire]) => wire === "lines") as (typeof kinds)[number];
    const { listener, port, served: by } = await served({ auth });
    expect(listener.addresses.map(({ wire }) => wire)).not.toContain("lines");
    await expect(lines({ port }, "nobody")).rejects.toThrow();
    expect(by.size).toBe(0);
    await expect(serve(createServer({ name: "a", version: "1" }), "tcp://127.0.0.1:0", { auth })).rejects.toMatchObject({
      data: { reason: "no-credentials" },
    });
    const certified = await served({ auth, tls: { ...tls, ca: signer.cert, requestClientCert: true } });
    const address = certified.listener.addresses.find(({ wire }) => wire === "lines")?.address ?? "";
    await using client = await connect(address, { tls: { ca: signer.cert, ...signer.issue("someone.test") } });
    expect(await client.callTool("echo", { text: "certified" })).toMatchObject({ content: [{ text: "certified" }] });
  });

  it("closes a connection that sends too little to be told apart, or nothing", async () => {
    const { port } = await served({ headersMs: 200 });
    for (const first of ["", "P", "PR", "\x16", "\x16\x03"]) {
      const socket = rawSocket({ port }).on("error", () => {});
      socket.write(first);
      await new Promise((resolve) => socket.resume().once("close", resolve));
    }
  });

  it("ends a connection at a line that is not JSON, and says why", async () => {
    const { port } = await served();
    const socket = rawSocket({ port });
    let heard = "";
    socket.on("data", (chunk) => {
      heard += String(chunk);
    });
    socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n{ nonsense\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    await new Promise((resolve) => socket.once("close", resolve));
    expect(
      heard
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, null]);
    expect(JSON.parse(heard.trim().split("\n")[1] ?? "").error.code).toBe(-32700);
  });

  it("answers a request that offers another protocol than WebSocket as if it did not", async () => {
    const { port } = await served();
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}';
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABkAARAAAAAAAIAAAAA",
      "content-length": String(body.length),
    };
    const status = await new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (answer) => resolve(answer.statusCode));
      sent.on("error", reject);
      sent.end(body);
    });
    // A legacy request without a session, and not one that the port did not understand.
    expect(status).toBe(400);
  });

  it("has room for more mounts, and for a base path", async () => {
    const { port } = await served({
      basePath: "/tools/",
      mounts: [{ wire: "health", claims: (path) => path === "/healthz", request: (_request, response) => void response.end("well") }],
    });
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe("well");
    expect((await fetch(`http://127.0.0.1:${port}/mcp`)).status).toBe(404);
    await using client = await connect(`http://127.0.0.1:${port}/tools/mcp`);
    expect(await client.callTool("echo", { text: "based" })).toMatchObject({ content: [{ text: "based" }] });
  });

  it("says that an address is in use", async () => {
    const other = listenOn();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => other.close(resolve)));
    const { port } = other.address() as { port: number };
    await expect(serve(createServer({ name: "a", version: "1" }), `any://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: "unavailable",
      data: { reason: "address-in-use" },
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });

  it("drains all wires together", async () => {
    const open = new Map<string, () => void>();
    const server = createServer({ name: "any", version: "1" }).tool(
      "hold",
      {},
      ({ text }) => new Promise((resolve) => open.set(String(text), () => resolve("let go"))),
    );
    const listener = await serve(server, "any://127.0.0.1:0", { drainMs: 10_000 });
    const clients = await Promise.all(listener.addresses.map(({ address }) => connect(address)));
    cleanups.push(() => Promise.all(clients.map((client) => client.close())));
    const calls = clients.map((client, at) => client.callTool("hold", { text: String(at) }));
    while (open.size < clients.length) await new Promise((resolve) => setTimeout(resolve, 10));
    const closed = listener.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const letGo of open.values()) letGo();
    for (const call of calls) expect(await call).toMatchObject({ content: [{ text: "let go" }] });
    await closed;
  });
});
