import { constants, type ServerHttp2Stream } from "node:http2";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Fault } from "../../../src/core/index.js";
import { type Channel, grpcChannel, type Status } from "../../../src/io/index.js";
import { type Bare, bare, collect, frame } from "./support.js";

let server: Bare | undefined;
let channel: Channel | undefined;
afterEach(async () => {
  await channel?.close();
  await server?.close();
});

/** One call to a server that answers so. */
async function ask(answer: (stream: ServerHttp2Stream) => void): Promise<{ messages: string[]; fault: Fault | undefined; status: Status }> {
  server = await bare(answer);
  channel = grpcChannel([{ host: "127.0.0.1", port: server.port }], { messageBytes: 1 << 20 });
  const call = channel.call("/t.T/M");
  call.send(Buffer.from("m"));
  call.done();
  const { messages, fault } = await collect(call);
  return { messages: messages.map(String), fault, status: await call.status };
}

const ok = { ":status": 200, "content-type": "application/grpc" };

/** Sends bytes after good headers, then trailers if given. */
function body(
  bytes: Uint8Array,
  trailers?: Record<string, string>,
  more: Record<string, string> = {},
): (stream: ServerHttp2Stream) => void {
  return (stream) => {
    stream.respond({ ...ok, ...more }, { waitForTrailers: true });
    stream.on("wantTrailers", () => (trailers === undefined ? stream.close() : stream.sendTrailers(trailers)));
    stream.end(bytes);
  };
}

describe("a server that answers badly", () => {
  it.each([
    [401, 16],
    [403, 7],
    [404, 12],
    [429, 14],
    [502, 14],
    [503, 14],
    [504, 14],
    [500, 2],
  ])("answers HTTP %i without gRPC", async (http, code) => {
    const { status, fault } = await ask((stream) => {
      stream.respond({ ":status": http, "content-type": "text/html" });
      stream.end("<h1>no</h1>");
    });
    expect(status).toMatchObject({ code, message: `the server answered with HTTP status ${http} instead of gRPC` });
    expect(fault?.data).toMatchObject({ grpcStatus: code });
  });

  it("answers 200 with a page", async () => {
    const { status } = await ask((stream) => {
      stream.respond({ ":status": 200, "content-type": "text/html" });
      stream.end("<h1>welcome</h1>");
    });
    expect(status.code).toBe(2);
  });

  it("gives an HTTP status and a gRPC one: the gRPC one counts", async () => {
    const { status } = await ask((stream) =>
      stream.respond(
        { ":status": 503, "content-type": "application/grpc", "grpc-status": "8", "grpc-message": "full" },
        { endStream: true },
      ),
    );
    expect(status).toMatchObject({ code: 8, message: "full" });
  });

  it("answers with the status alone", async () => {
    const { status, messages, fault } = await ask((stream) => stream.respond({ ...ok, "grpc-status": "0" }, { endStream: true }));
    expect({ code: status.code, messages, fault }).toEqual({ code: 0, messages: [], fault: undefined });
  });

  it.each([
    [constants.NGHTTP2_NO_ERROR, 2],
    [constants.NGHTTP2_PROTOCOL_ERROR, 13],
    [constants.NGHTTP2_INTERNAL_ERROR, 13],
    [constants.NGHTTP2_REFUSED_STREAM, 14],
    [constants.NGHTTP2_CANCEL, 1],
    [constants.NGHTTP2_ENHANCE_YOUR_CALM, 8],
    [constants.NGHTTP2_INADEQUATE_SECURITY, 7],
  ])("resets the call with HTTP/2 code %i", async (reset, code) => {
    const { status } = await ask((stream) => stream.close(reset));
    expect(status.code).toBe(code);
  });

  it("resets the call after it began", async () => {
    const { status, messages } = await ask((stream) => {
      stream.respond(ok);
      stream.write(frame(Buffer.from("one")), () => setTimeout(() => stream.destroy(new Error("broken")), 50));
    });
    expect({ code: status.code, messages }).toEqual({ code: 13, messages: ["one"] });
  });

  it("ends without a status", async () => {
    const { status, messages, fault } = await ask((stream) => {
      stream.respond(ok);
      stream.end(frame(Buffer.from("one")));
    });
    expect({ code: status.code, messages }).toEqual({ code: 2, messages: ["one"] });
    // No server does so: it is a proxy that has given up.
    expect(fault).toMatchObject({ code: "unavailable", data: { reason: "cut-off" } });
  });

  it("has trailers without a status", async () => {
    expect((await ask(body(frame(Buffer.from("one")), { "x-other": "1" }))).status.code).toBe(2);
  });

  it("ends inside a message, whatever its status says", async () => {
    const { status, fault } = await ask(body(frame(Buffer.from("hello")).subarray(0, 7), { "grpc-status": "0" }));
    expect(status.code).toBe(13);
    expect(fault).toMatchObject({ code: "internal" });
  });

  it("sends a message over the limit, declared or inflated", async () => {
    const declared = await ask(body(frame(new Uint8Array((1 << 20) + 1)), { "grpc-status": "0" }));
    expect(declared.fault).toMatchObject({ code: "overload", data: { limit: "messageBytes" } });
    await channel?.close();
    await server?.close();
    const bomb = frame(gzipSync(new Uint8Array(8 << 20)), 1);
    const inflated = await ask(body(bomb, { "grpc-status": "0" }, { "grpc-encoding": "gzip" }));
    expect(inflated.fault).toMatchObject({ code: "overload" });
  });

  it("compresses in a way that was not offered", async () => {
    expect((await ask(body(frame(Buffer.from("x"), 1), { "grpc-status": "0" }, { "grpc-encoding": "br" }))).status.code).toBe(13);
  });

  it("sends no answer at all and goes away", async () => {
    const { status, fault } = await ask((stream) => stream.session?.destroy());
    expect(status.code).toBe(14);
    expect(fault).toMatchObject({ code: "unavailable", data: { reason: "connection-lost" } });
  });
});
