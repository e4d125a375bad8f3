import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type GrpcPeer, grpcChannel, grpcServer } from "../../../src/io/index.js";
import * as certificates from "./certificates.js";
import { collect, serve } from "./support.js";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Passes bytes between its clients and a port, until it is told to swallow them: both ends then see an open, silent connection. */
async function proxy(port: number): Promise<{ port: number; swallow(): void }> {
  const sockets = new Set<Socket>();
  let swallowing = false;
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on("data", (chunk) => swallowing || to.write(chunk));
    from.on("close", () => swallowing || to.destroy());
    from.on("error", () => {});
  };
  const server = createServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    pass(socket, upstream);
    pass(upstream, socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      swallowing = true;
    },
  };
}

describe("a connection", () => {
  it("that went silent is given up by both ends", async () => {
    const keepalive = { intervalMs: 100, timeoutMs: 100 };
    const heard: (string | undefined)[] = [];
    const served = await serve(
      (call) => {
        call.cancel.on(() => heard.push(call.cancel.reason?.code));
        call.begin();
      },
      { keepalive },
    );
    cleanups.push(() => served.close());
    const between = await proxy(served.port);
    const channel = grpcChannel([{ host: "127.0.0.1", port: between.port }], { keepalive });
    cleanups.push(() => channel.close());
    const calls = Array.from({ length: 3 }, () => channel.call("/t.T/M"));
    for (const call of calls) await call.headers;
    // Long enough for PINGs that are answered.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(heard).toEqual([]);
    const began = Date.now();
    between.swallow();
    for (const call of calls) expect((await collect(call)).fault).toMatchObject({ code: "unavailable" });
    await vi.waitFor(() => expect(heard).toEqual(["cancelled", "cancelled", "cancelled"]));
    expect(Date.now() - began).toBeLessThan(20 * 200);
    expect(channel.state).not.toBe("ready");
  });

  it("over TLS tells who the client is, by a certificate that was verified", async () => {
    const peers: GrpcPeer[] = [];
    const server = grpcServer((call) => {
      peers.push(call.peer);
      call.end({ code: 0 });
    });
    const http2 = createSecureServer({
      ...certificates.server,
      ca: [certificates.client.cert],
      requestCert: true,
      rejectUnauthorized: false,
    });
    http2.on("stream", (stream, headers) => server.stream(stream, headers));
    http2.listen(0, "127.0.0.1");
    await once(http2, "listening");
    cleanups.push(() => new Promise((resolve) => http2.close(resolve)));
    const { port } = http2.address() as AddressInfo;
    const ca = certificates.server.cert;
    for (const tls of [{ ca, ...certificates.client }, { ca, ...certificates.server }, { ca }]) {
      const channel = grpcChannel([{ host: "localhost", port, tls }]);
      const call = channel.call("/t.T/M");
      call.done();
      expect(await call.status).toMatchObject({ code: 0 });
      await channel.close();
    }
    expect(peers.map(({ address, certificate }) => ({ address, certificate }))).toEqual([
      {
        address: "127.0.0.1",
        certificate: {
          subject: "O=Test, Inc, CN=client",
          uris: ["spiffe://test/client"],
          names: ["client.test", "other.test"],
          fingerprint256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
        },
      },
      { address: "127.0.0.1", certificate: undefined },
      { address: "127.0.0.1", certificate: undefined },
    ]);
    const untrusting = grpcChannel([{ host: "localhost", port, tls: {} }]);
    expect(await untrusting.call("/t.T/M").status).toMatchObject({ code: 14 });
    await untrusting.close();
  });
});
