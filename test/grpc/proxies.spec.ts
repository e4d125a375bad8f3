import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type ConnectOptions,
  connect,
  createServer,
  Fault,
  type Listener,
  type McpClient,
  progress,
  type Server,
  serve,
} from "../../src/api/index.js";
import { authority } from "../fixtures/certificates.js";
import { type ProxyName, programOf, proxyNames, type RunningProxy, startProxy } from "../fixtures/proxies.js";

const root = authority();
const OCTETS = 4 * 1024 * 1024;
const patience = { timeout: 20_000 };

interface Sample extends Server {
  /** Calls of `echo` that were made. */
  echoes: number;
  /** Calls of `wait` that run. */
  waiting: number;
}

function sample(): Sample {
  const server: Sample = Object.assign(createServer({ name: "behind", version: "1" }), { echoes: 0, waiting: 0 });
  server
    .tool("echo", {}, ({ text }) => {
      server.echoes++;
      return String(text);
    })
    .tool("fail", {}, () => {
      throw new Fault("application", "long ".repeat(1000), { rpcCode: -32050, data: { why: "x".repeat(4000) } });
    })
    .tool("count", {}, async function* ({ n }) {
      for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n));
      return "counted";
    })
    .tool("wait", {}, (_args, ctx) => {
      server.waiting++;
      return new Promise((resolve) =>
        ctx.cancel.on(() => {
          server.waiting--;
          resolve("left");
        }),
      );
    })
    .resource({ uri: "test://octets", name: "octets" }, () => new Uint8Array(OCTETS).fill(7));
  return server;
}

const echo = async (client: McpClient, text: string): Promise<unknown> =>
  ((await client.callTool("echo", { text })).content?.[0] as { text?: string } | undefined)?.text;

const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `text ${at}`);

/** Each way that calls can travel. */
const ways: readonly (readonly [string, ConnectOptions])[] = [
  ["legacy, on a session", { era: "legacy", calls: "session" }],
  ["legacy, as RPCs", { era: "legacy", calls: "rpc" }],
  ["modern, on a session", { era: "modern", calls: "session" }],
  ["modern, as RPCs", { era: "modern", calls: "rpc" }],
  ["through the tunnel", { dialect: "tunnel" }],
];

const missing = proxyNames.filter((name) => programOf(name) === undefined);
if (missing.length > 0) console.warn(`Not tested here, because they are not installed: ${missing.join(", ")}`);

for (const name of proxyNames) describe.runIf(!missing.includes(name))(`behind ${name}`, () => behind(name));

function behind(name: ProxyName): void {
  let server: Sample;
  let listener: Listener;
  let to: number;
  let plain: RunningProxy;
  beforeAll(async () => {
    server = sample();
    listener = await serve(server, "grpc://127.0.0.1:0");
    to = Number(listener.address.split(":").at(-1));
    plain = await startProxy(name, { to });
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await listener.close();
  });

  it.each(ways)("everything works: %s", async (_way, options) => {
    const client = await connect(`grpc://127.0.0.1:${plain.port}`, options);
    const steps: number[] = [];
    await client.callTool("count", { n: 3 }, { onProgress: (step) => void steps.push(step.progress) });
    expect(steps).toEqual([1, 2, 3]);

    await expect(client.callTool("fail")).rejects.toMatchObject({
      rpcCode: -32050,
      message: expect.stringMatching(/^long long /),
      data: { why: "x".repeat(4000) },
    });

    let octets = 0;
    for await (const chunk of client.readChunks("test://octets")) octets += chunk.data.length;
    expect(octets).toBe(OCTETS);

    expect(await Promise.all(texts(200).map((text) => echo(client, text)))).toEqual(texts(200));

    const left = new AbortController();
    const waits = client.callTool("wait", {}, { signal: left.signal });
    await vi.waitFor(() => expect(server.waiting).toBe(1), patience);
    left.abort();
    await expect(waits).rejects.toMatchObject({ code: "cancelled" });
    await vi.waitFor(() => expect(server.waiting).toBe(0), patience);

    const changes = client.watch("test://octets");
    const change = changes.next();
    const telling = setInterval(() => server.updated("test://octets"), 20);
    expect(await change.finally(() => clearInterval(telling))).toMatchObject({ value: { uri: "test://octets", change: "modified" } });
    await changes.return();
    await client.close();
  });

  it("with a certificate of its own", async () => {
    await using proxy = await startProxy(name, { to, tls: root.issue("127.0.0.1") });
    const client = await connect(`grpcs://127.0.0.1:${proxy.port}`, { tls: { ca: root.cert }, calls: "rpc" });
    expect(await Promise.all(texts(50).map((text) => echo(client, text)))).toEqual(texts(50));
    await client.close();
  });

  it.each(["session", "rpc"] as const)("calls go on after it was killed and came back: %s", async (calls) => {
    const client = await connect(`grpc://127.0.0.1:${plain.port}`, { era: "legacy", calls });
    const waits = client.callTool("wait");
    await vi.waitFor(() => expect(server.waiting).toBe(1), patience);
    await Promise.all([expect(waits).rejects.toMatchObject({ code: "unavailable" }), plain.stop()]);
    await vi.waitFor(() => expect(server.waiting).toBe(0), patience);
    await plain.start();
    await vi.waitFor(async () => expect(await echo(client, "again")).toBe("again"), patience);
    await client.close();
  });

  if (name === "nginx" || name === "caddy")
    it("no call is lost when it leaves connections after few calls", async () => {
      await using proxy = await startProxy(name, { to, requests: 10 });
      const client = await connect(`grpc://127.0.0.1:${proxy.port}`, { calls: "rpc", era: "modern" });
      const before = server.echoes;
      expect(await Promise.all(texts(200).map((text) => echo(client, text)))).toEqual(texts(200));
      for (const text of texts(30)) expect(await echo(client, text)).toBe(text);
      expect(server.echoes - before).toBe(230);
      await client.close();
    });

  if (name === "nginx" || name === "haproxy")
    it("a session that it cuts off for its silence begins anew", async () => {
      await using proxy = await startProxy(name, { to, silentMs: 1000 });
      const client = await connect(`grpc://127.0.0.1:${proxy.port}`, { era: "legacy" });
      await expect(client.callTool("wait")).rejects.toMatchObject({ code: "unavailable", data: { reason: "cut-off" } });
      await vi.waitFor(async () => expect(await echo(client, "again")).toBe("again"), patience);
      await client.close();
    });

  if (name !== "nghttpx")
    it("a client goes on after the server behind it was started anew", async () => {
      const first = await serve(sample(), "grpc://127.0.0.1:0", { drainMs: 10 });
      await using proxy = await startProxy(name, { to: Number(first.address.split(":").at(-1)) });
      const client = await connect(`grpc://127.0.0.1:${proxy.port}`, { era: "legacy" });
      expect(await echo(client, "first")).toBe("first");
      await first.close();
      const second = await serve(sample(), first.address);
      await vi.waitFor(async () => expect(await echo(client, "second")).toBe("second"), patience);
      await client.close();
      await second.close();
    });
}
