import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, createServer as createHttp2, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer, type Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, PassThrough } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type Channel,
  type GrpcChannelOptions,
  type GrpcTarget,
  grpcChannel,
  grpcServer,
  type Mount,
  port as openPort,
  type ServerCall,
} from "../../../src/io/index.js";
import { bare, collect, echo, frame, hang, type Served, serve } from "./support.js";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
const later = <T extends { close(): Promise<unknown> }>(made: T): T => {
  cleanups.push(() => made.close());
  return made;
};
const dial = (ports: readonly number[], options: GrpcChannelOptions = {}): Channel =>
  later(
    grpcChannel(
      ports.map((port) => ({ host: "127.0.0.1", port })),
      options,
    ),
  );

async function say(channel: Channel, text: string): Promise<string[]> {
  const call = channel.call("/t.T/M", { deadline: Date.now() + 20_000 });
  call.send(Buffer.from(text));
  call.done();
  const { messages, fault } = await collect(call);
  if (fault !== undefined) throw fault;
  return messages.map(String);
}

/** A port on which nobody listens. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a channel", () => {
  it("connects on the first call, and says in what state it is", async () => {
    const { port } = later(await serve(echo));
    const channel = dial([port]);
    expect(channel.state).toBe("idle");
    const said = say(channel, "a");
    expect(channel.state).toBe("connecting");
    expect(await said).toEqual(["a"]);
    expect(channel.state).toBe("ready");
    await channel.close();
    expect(channel.state).toBe("closed");
    await expect(say(channel, "b")).rejects.toMatchObject({ code: "unavailable", data: { reason: "closed" } });
  });

  it("fails calls when nobody listens, and tries again soon", async () => {
    const port = await deadPort();
    const channel = dial([port]);
    await expect(say(channel, "a")).rejects.toMatchObject({ code: "unavailable", data: { reason: "ECONNREFUSED" } });
    expect(channel.state).toBe("backoff");
    later(await serve(echo, { port }));
    expect(await say(channel, "b")).toEqual(["b"]);
  });

  it("fails calls at once while the next attempt is far away", async () => {
    const channel = dial([await deadPort()]);
    await vi.waitFor(
      async () => {
        const began = Date.now();
        await expect(say(channel, "a")).rejects.toMatchObject({ code: "unavailable" });
        expect(channel.state).toBe("backoff");
        // One that fails without having waited for an attempt.
        const first = channel.call("/t.T/M");
        expect(await Promise.race([first.status.then(({ code }) => code), new Promise((resolve) => setImmediate(resolve, "waits"))])).toBe(
          14,
        );
        expect(Date.now() - began).toBeLessThan(20_000);
      },
      { timeout: 20_000 },
    );
  });

  it("tries the addresses in turn", async () => {
    const { port } = later(await serve(echo));
    expect(await say(dial([await deadPort(), await deadPort(), port]), "a")).toEqual(["a"]);
  });

  it("gives up on a peer that is silent or speaks something else", async () => {
    const silent = await listen(createServer());
    await expect(say(dial([silent], { connectMs: 100 }), "a")).rejects.toMatchObject({ code: "unavailable" });
    const other = await listen(createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    await expect(say(dial([other]), "a")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("reconnects after a restart", async () => {
    const first = await serve(echo);
    const channel = dial([first.port]);
    expect(await say(channel, "a")).toEqual(["a"]);
    await first.close();
    later(await serve(echo, { port: first.port }));
    await vi.waitFor(async () => expect(await say(channel, "b")).toEqual(["b"]));
  });

  it("lets calls finish on a server that says GOAWAY, and makes new ones elsewhere", async () => {
    const old = await serve(echo);
    const channel = dial([old.port, later(await serve((call) => call.end({ code: 10, message: "the other" }))).port]);
    const call = channel.call("/t.T/M");
    const answers = call.messages[Symbol.asyncIterator]();
    call.send(Buffer.from("one"));
    expect((await answers.next()).value?.map(String)).toEqual(["one"]);
    const closed = old.leave(10_000);
    await vi.waitFor(() => expect(channel.state).toBe("idle"));
    await expect(say(channel, "three")).rejects.toMatchObject({ message: "the other" });
    call.send(Buffer.from("two"));
    expect((await answers.next()).value?.map(String)).toEqual(["two"]);
    call.done();
    expect((await answers.next()).done).toBe(true);
    expect((await call.status).code).toBe(0);
    await closed;
  });

  it("loses no call while servers come and go", async () => {
    const servers = [await serve(echo), await serve(echo)];
    const channel = dial(servers.map(({ port }) => port));
    let going = true;
    let count = 0;
    const lost: unknown[] = [];
    const workers = Array.from({ length: 8 }, async () => {
      while (going) {
        await say(channel, "x").catch((error: unknown) => lost.push(error));
        count++;
      }
    });
    for (let round = 0; round < 6; round++) {
      const before = count;
      await vi.waitFor(() => expect(count).toBeGreaterThan(before + 50), { timeout: 10_000 });
      const old = servers[round % 2] as Served;
      await old.leave(5000);
      servers[round % 2] = await serve(echo, { port: old.port });
    }
    going = false;
    await Promise.all(workers);
    expect(lost).toEqual([]);
    await channel.close();
    for (const server of servers) await server.close();
  });

  it("asks again when the server refused the call without looking at it", async () => {
    let streams = 0;
    const { port } = later(
      await bare((stream) => {
        if (++streams === 1) {
          stream.close(constants.NGHTTP2_REFUSED_STREAM);
          return;
        }
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.pipe(stream);
      }),
    );
    expect(await say(dial([port]), "again")).toEqual(["again"]);
    expect(streams).toBe(2);
  });

  it("opens further connections when the server allows few calls on one", async () => {
    const server = await bare(
      (stream) => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" });
        stream.write(frame(Buffer.from("here")));
      },
      { settings: { maxConcurrentStreams: 2 } },
    );
    later(server);
    const channel = dial([server.port]);
    const calls = Array.from({ length: 5 }, () => channel.call("/t.T/M"));
    for (const call of calls) expect((await call.messages[Symbol.asyncIterator]().next()).value?.map(String)).toEqual(["here"]);
    expect(server.sessions.size).toBe(3);
  });

  it("lets calls wait their turn when no more connections are allowed", async () => {
    const server = await bare(
      (stream) => {
        stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
      },
      { settings: { maxConcurrentStreams: 1 } },
    );
    later(server);
    const channel = dial([server.port], { maxConnections: 1 });
    const calls = Array.from({ length: 50 }, () => channel.call("/t.T/M"));
    for (const call of calls) call.done();
    expect((await Promise.all(calls.map((call) => call.status))).map(({ code }) => code)).toEqual(calls.map(() => 0));
    expect(server.sessions.size).toBe(1);
  });

  it("gives a waiting call the first stream that is free, on whichever connection", async () => {
    const open: ServerHttp2Stream[] = [];
    const answer = (stream: ServerHttp2Stream): void =>
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
    const server = await bare((stream) => void open.push(stream), { settings: { maxConcurrentStreams: 1 } });
    later(server);
    const channel = dial([server.port], { maxConnections: 3 });
    const hanging = Array.from({ length: 3 }, () => channel.call("/t.T/M"));
    await vi.waitFor(() => expect(open).toHaveLength(3));
    for (const at of [2, 1, 0]) {
      const waiting = channel.call("/t.T/M");
      waiting.done();
      answer(open[at] as ServerHttp2Stream);
      await vi.waitFor(() => expect(open).toHaveLength(6 - at));
      answer(open.at(-1) as ServerHttp2Stream);
      expect((await waiting.status).code).toBe(0);
    }
    expect((await Promise.all(hanging.map((call) => call.status))).map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  it.each(["own", "node"] as const)("sends waiting calls when the server accepts more: %s", async (http2) => {
    const sessions: ServerHttp2Session[] = [];
    const server = await bare(
      (stream) => {
        sessions.push(stream.session as ServerHttp2Session);
        if (sessions.length > 1)
          stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
      },
      { settings: { maxConcurrentStreams: 1 } },
    );
    later(server);
    const channel = dial([server.port], { maxConnections: 1, http2 });
    channel.call("/t.T/M");
    await vi.waitFor(() => expect(sessions).toHaveLength(1));
    const waiting = channel.call("/t.T/M");
    waiting.done();
    sessions[0]?.settings({ maxConcurrentStreams: 2 });
    expect((await waiting.status).code).toBe(0);
  });

  it("fails what is open when it is closed, and rejects nothing that nobody looks at", async () => {
    const { port } = later(await serve(hang));
    const channel = dial([port]);
    const call = channel.call("/t.T/M");
    await call.headers;
    const waiting = dial([await deadPort()]).call("/t.T/M");
    await channel.close();
    expect(await call.status).toMatchObject({ code: 14 });
    expect((await collect(call)).fault).toMatchObject({ code: "unavailable" });
    expect((await waiting.status).code).toBe(14);
    await expect(waiting.headers).rejects.toMatchObject({ code: "unavailable" });
  });

  it("ends a call at its deadline though there is no connection yet", async () => {
    const silent = await listen(createServer());
    const call = dial([silent]).call("/t.T/M", { deadline: Date.now() + 50 });
    expect((await collect(call)).fault).toMatchObject({ code: "deadline" });
    expect((await call.status).code).toBe(4);
  });

  it("refuses metadata that cannot be sent", () => {
    const channel = dial([1]);
    expect(() => channel.call("/t.T/M", { metadata: { "x-a": "a\r\nb: c" } })).toThrow("cannot be sent");
    expect(channel.state).toBe("idle");
  });

  it("speaks over a Unix socket and over any duplex", async () => {
    const server = grpcServer(echo);
    const folder = await mkdtemp(join(tmpdir(), "framing-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    const path = join(folder, "socket");
    const http2 = createHttp2();
    http2.on("stream", (stream, headers) => server.stream(stream, headers));
    http2.listen(path);
    await once(http2, "listening");
    cleanups.push(() => new Promise((resolve) => http2.close(resolve)));
    const duplex = (): Duplex => {
      const [there, back] = [new PassThrough(), new PassThrough()];
      const rpc: Mount["rpc"] = (stream, headers, raw) => server.stream(stream, headers, raw);
      void openPort({ stream: Duplex.from({ readable: there, writable: back }) }, [{ wire: "grpc", rpc }]);
      return Duplex.from({ readable: back, writable: there });
    };
    const targets: GrpcTarget[] = [{ path }, { duplex }];
    for (const target of targets) {
      const channel = later(grpcChannel([target]));
      expect(await say(channel, "a")).toEqual(["a"]);
      await channel.close();
    }
  });

  it("goes on to the next target when a socket cannot even be made", async () => {
    const { port } = later(await serve(echo));
    const broken: GrpcTarget = {
      duplex: () => {
        throw new Error("no such command");
      },
    };
    const alone = later(grpcChannel([broken]));
    await expect(say(alone, "a")).rejects.toMatchObject({ code: "unavailable", message: "cannot connect: no such command" });
    expect(await say(later(grpcChannel([broken, { host: "127.0.0.1", port }])), "b")).toEqual(["b"]);
  });

  it("tells the server where a call comes from and to", async () => {
    let seen: ServerCall | undefined;
    const { port } = later(
      await serve((call) => {
        seen = call;
        call.end({ code: 0 });
      }),
    );
    const channel = dial([port], { userAgent: "tester" });
    const call = channel.call("/t.T/M", { deadline: Date.now() + 60_000, metadata: { "x-a": ["1", "2"] } });
    call.done();
    await call.status;
    expect(seen).toMatchObject({ path: "/t.T/M", hosts: [`127.0.0.1:${port}`], peer: { address: "127.0.0.1" } });
    expect({ ...seen?.metadata }).toEqual({ "user-agent": "tester", "x-a": ["1", "2"] });
    expect(Math.abs((seen?.deadline ?? 0) - Date.now() - 60_000)).toBeLessThan(20_000);
  });
});

async function listen(server: NetServer): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.unshift(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
