import { deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { grpcChannel } from "../../../src/io/index.js";
import { bare, collect, echo, frame, post, type Served, serve } from "./support.js";

let served: Served | undefined;
afterEach(() => served?.close());

const large = Buffer.from("all work and no play ".repeat(100));
const small = Buffer.from("small");

describe("compression", () => {
  it("is used by a server that was told to, for clients that accept it, where it pays", async () => {
    served = await serve(echo, { gzip: true });
    const { body, headers } = await post(served.port, [frame(large), frame(small)], { "grpc-accept-encoding": "identity, gzip" });
    expect(headers["grpc-encoding"]).toBe("gzip");
    const length = body.readUInt32BE(1);
    expect([body[0], gunzipSync(body.subarray(5, 5 + length))]).toEqual([1, large]);
    expect(body.subarray(5 + length)).toEqual(frame(small));
  });

  it("is not used for clients that do not accept it", async () => {
    served = await serve(echo, { gzip: true });
    for (const accept of ["identity", "gzipped", "x-gzip,br"]) {
      const { body, headers } = await post(served.port, [frame(large)], { "grpc-accept-encoding": accept });
      expect([headers["grpc-encoding"], body]).toEqual([undefined, frame(large)]);
    }
    expect((await post(served.port, [frame(large)])).body).toEqual(frame(large));
  });

  it("is used by a client that was told to, per channel or per call", async () => {
    const got: { encoding: unknown; accept: unknown; flag: number | undefined }[] = [];
    const server = await bare((stream, headers) => {
      stream.once("data", (chunk: Buffer) => {
        got.push({ encoding: headers["grpc-encoding"], accept: headers["grpc-accept-encoding"], flag: chunk[0] });
        stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
      });
    });
    for (const [options, gzip] of [
      [{}, undefined],
      [{ gzip: true }, undefined],
      [{ gzip: true }, false],
      [{ acceptGzip: false }, true],
    ] as const) {
      const channel = grpcChannel([{ host: "127.0.0.1", port: server.port }], options);
      const call = channel.call("/t.T/M", { gzip });
      call.send(large);
      call.done();
      await collect(call);
      await channel.close();
    }
    const accept = "identity,gzip,deflate";
    expect(got).toEqual([
      { encoding: undefined, accept, flag: 0 },
      { encoding: "gzip", accept, flag: 1 },
      { encoding: undefined, accept, flag: 0 },
      { encoding: "gzip", accept: undefined, flag: 1 },
    ]);
    await server.close();
  });

  it("keeps the order of messages, whichever of them are compressed, in either format", async () => {
    served = await serve(echo);
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
    ] as const) {
      const messages = Array.from({ length: 40 }, (_, at) => Buffer.from(`${at} `.repeat(1 + (at % 3) * 5000)));
      const body = messages.map((message, at) => (at % 2 === 0 ? frame(pack(message), 1) : frame(message)));
      const answer = await post(served.port, body, { "grpc-encoding": encoding });
      expect(answer.grpcStatus).toBe(0);
      expect(answer.body.equals(Buffer.concat(messages.map((message) => frame(message))))).toBe(true);
    }
  });
});
