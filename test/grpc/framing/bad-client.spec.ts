import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { grpcChannel } from "../../../src/io/index.js";
import { bare, collect, echo, frame, post, type Served, serve } from "./support.js";

const LIMIT = 16 << 20;

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function start(): Promise<number> {
  served = await serve(echo, { messageBytes: LIMIT });
  return served.port;
}

describe("a client that frames badly", () => {
  it("row 24: declares 4 GiB, and is refused before any room is made", async () => {
    const port = await start();
    const before = process.memoryUsage().arrayBuffers;
    const answer = await post(port, [Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff), new Uint8Array(1000)], {}, true);
    expect(answer).toMatchObject({ status: 200, grpcStatus: 8 });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(LIMIT);
  });

  it("ends inside a message or a prefix", async () => {
    const port = await start();
    for (const end of [3, 8]) {
      expect(await post(port, [frame(Buffer.from("hello")).subarray(0, end)])).toMatchObject({ grpcStatus: 13 });
    }
  });

  it("sets flags that gRPC does not have", async () => {
    expect(await post(await start(), [frame(Buffer.from("hello"), 7)])).toMatchObject({ grpcStatus: 13 });
  });

  it("says that a message is compressed, but not how", async () => {
    const port = await start();
    const body = [frame(gzipSync("hello"), 1)];
    expect(await post(port, body)).toMatchObject({ grpcStatus: 13 });
    expect(await post(port, body, { "grpc-encoding": "identity" })).toMatchObject({ grpcStatus: 13 });
    expect(await post(port, body, { "grpc-encoding": "gzip" })).toMatchObject({ grpcStatus: 0, body: frame(Buffer.from("hello")) });
  });

  it("compresses in a way that is not known, and hears which are", async () => {
    const answer = await post(await start(), [frame(Buffer.from("x"), 1)], { "grpc-encoding": "zstd" });
    expect(answer.grpcStatus).toBe(12);
    expect(answer.headers["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
  });

  it("row 25: sends 1 MiB of gzip that expands to 1 GiB, and memory stays under twice the limit", async () => {
    const port = await start();
    const member = gzipSync(new Uint8Array(64 << 20), { level: 9 });
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => member));
    await post(port, [frame(gzipSync("warm"), 1)], { "grpc-encoding": "gzip" });
    const before = process.memoryUsage().rss;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 1);
    const answer = await post(port, [frame(bomb, 1)], { "grpc-encoding": "gzip" });
    clearInterval(timer);
    expect(answer.grpcStatus).toBe(8);
    expect(most).toBeLessThan(2 * LIMIT + 4 * bomb.length);
  });

  it("row 26: sends corrupt gzip: its call fails, and a neighbour on the same connection goes on", async () => {
    const port = await start();
    const channel = grpcChannel([{ host: "127.0.0.1", port }]);
    const neighbour = channel.call("/t.T/M");
    const answers = neighbour.messages[Symbol.asyncIterator]();
    neighbour.send(Buffer.from("one"));
    expect((await answers.next()).value?.map(String)).toEqual(["one"]);
    const corrupt = gzipSync("hello".repeat(1000));
    corrupt.fill(0xff, 20, 30);
    expect(await post(port, [frame(corrupt, 1)], { "grpc-encoding": "gzip" })).toMatchObject({ grpcStatus: 13 });
    expect(await post(port, [frame(corrupt.subarray(0, 15), 1)], { "grpc-encoding": "gzip" })).toMatchObject({ grpcStatus: 13 });
    neighbour.send(Buffer.from("two"));
    expect((await answers.next()).value?.map(String)).toEqual(["two"]);
    neighbour.done();
    expect((await neighbour.status).code).toBe(0);
    await channel.close();
  });

  it("asks with a timeout that is none", async () => {
    expect(await post(await start(), [], { "grpc-timeout": "soon" })).toMatchObject({ grpcStatus: 13 });
  });

  it("uses another HTTP method or content type", async () => {
    const port = await start();
    expect(await post(port, [], { ":method": "PUT" })).toMatchObject({ status: 405, grpcStatus: undefined });
    for (const type of ["application/grpc-web", "application/grpc-web+proto", "text/plain", "application/grpcx"]) {
      expect(await post(port, [], { "content-type": type })).toMatchObject({ status: 200, body: Buffer.from("plain") });
    }
    const own = await bare((stream, headers) => served?.server.stream(stream, headers));
    expect(await post(own.port, [], { "content-type": "text/plain" })).toMatchObject({ status: 415 });
    await own.close();
  });

  it("sends more headers than fit", async () => {
    const port = await start();
    const answer = await post(port, [], { "x-much": "x".repeat(200_000) }).catch(() => undefined);
    expect(answer?.grpcStatus).toBeUndefined();
    expect(await post(port, [frame(Buffer.from("ok"))])).toMatchObject({ grpcStatus: 0 });
  });

  it("does not stop sending after the call was ended", async () => {
    served = await serve((call) => call.end({ code: 9, message: "no" }));
    const channel = grpcChannel([{ host: "127.0.0.1", port: served.port }]);
    const call = channel.call("/t.T/M");
    call.send(new Uint8Array(1 << 20));
    const { fault } = await collect(call);
    expect(fault).toMatchObject({ code: "invalid-request", message: "no" });
    await expect(call.send(new Uint8Array(1))).rejects.toBe(fault);
    await channel.close();
  });
});
