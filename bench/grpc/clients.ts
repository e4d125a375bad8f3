import { connect as connectHttp2 } from "node:http2";
import type { BytesValue } from "@bufbuild/protobuf/wkt";
import { createGrpcTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { type Channel, grpcChannel } from "../../dist/io/index.js";
import { CHAT, CHUNK, chat, FLOOD, pack, SAME, same } from "./service.js";

/** What each stack's client can do; `times` in all, `inFlight` of them at a time. */
export interface Stack {
  readonly name: string;
  /** Messages there and back on one stream. */
  chat(times: number, inFlight: number): Promise<void>;
  unary(times: number, inFlight: number): Promise<void>;
  close(): Promise<void>;
}

const message = Buffer.alloc(200, 7);

export function ours(port: number): Stack & { readonly channel: Channel; flood(chunks: number): Promise<void> } {
  const channel = grpcChannel([{ host: "127.0.0.1", port }]);
  return {
    name: "anywire",
    channel,
    async chat(times, inFlight) {
      const call = channel.call(CHAT);
      let left = times;
      const send = (count: number): void => {
        for (let at = 0; at < count && left > 0; at++, left--) call.send(message);
        if (left === 0) call.done();
      };
      send(inFlight);
      for await (const batch of call.messages) send(batch.length);
    },
    unary: (times, inFlight) =>
      workers(times, inFlight, async () => {
        const call = channel.call(SAME);
        call.send(message);
        call.done();
        for await (const _ of call.messages);
      }),
    async flood(chunks) {
      const call = channel.call(FLOOD);
      call.send(Buffer.from(String(chunks)));
      call.done();
      let bytes = 0;
      for await (const batch of call.messages) for (const each of batch) bytes += each.length;
      whole(bytes, chunks);
    },
    close: () => channel.close(),
  };
}

export function grpcJs(port: number): Stack & { readonly client: grpc.Client; flood(chunks: number): Promise<void> } {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const bytes = (value: Buffer): Buffer => value;
  return {
    name: "grpc-js",
    client,
    chat: (times, inFlight) =>
      new Promise((resolve, reject) => {
        const call = client.makeBidiStreamRequest(CHAT, bytes, bytes);
        let left = times;
        const send = (): void => {
          if (left-- > 0) call.write(message);
          if (left === 0) call.end();
        };
        call.on("data", send);
        call.on("end", resolve);
        call.on("error", reject);
        for (let at = 0; at < inFlight; at++) send();
      }),
    unary: (times, inFlight) =>
      workers(
        times,
        inFlight,
        () =>
          new Promise<void>((resolve, reject) => {
            client.makeUnaryRequest(SAME, bytes, bytes, message, (error) => (error === null ? resolve() : reject(error)));
          }),
      ),
    flood: (chunks) =>
      new Promise((resolve, reject) => {
        const call = client.makeServerStreamRequest(FLOOD, bytes, bytes, Buffer.from(String(chunks)));
        let got = 0;
        call.on("data", (each: Buffer) => {
          got += each.length;
        });
        call.on("end", () => {
          whole(got, chunks);
          resolve();
        });
        call.on("error", reject);
      }),
    close: async () => client.close(),
  };
}

export function connectNode(port: number): Stack {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}`, acceptCompression: [] });
  const value = pack(message);
  return {
    name: "connect-node",
    async chat(times, inFlight) {
      let allowed = inFlight;
      let wake: (() => void) | undefined;
      async function* requests(): AsyncGenerator<BytesValue, void, undefined> {
        for (let left = times; left > 0; left--) {
          while (allowed === 0) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          allowed--;
          yield value;
        }
      }
      const answer = await transport.stream(chat, undefined, undefined, undefined, requests());
      for await (const _ of answer.message) {
        allowed++;
        wake?.();
      }
    },
    unary: (times, inFlight) =>
      workers(times, inFlight, async () => void (await transport.unary(same, undefined, undefined, undefined, value))),
    close: async () => {},
  };
}

/** The chunks by node:http2 alone. */
export function bareHttp2(port: number): { readonly name: string; flood(chunks: number): Promise<void>; close(): Promise<void> } {
  const window = 8 * 1024 * 1024;
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: window } });
  session.once("connect", () => session.setLocalWindowSize(window));
  return {
    name: "node:http2",
    flood: (chunks) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":path": "/", "x-chunks": String(chunks) });
        let got = 0;
        stream.on("data", (each: Buffer) => {
          got += each.length;
        });
        stream.on("end", () => {
          whole(got, chunks);
          resolve();
        });
        stream.on("error", reject);
        stream.end();
      }),
    close: () => new Promise((resolve) => session.close(resolve)),
  };
}

/** What node:http2 alone takes to make gRPC calls: nobody looks at what comes back. */
export function plainGrpc(port: number): Omit<Stack, "chat"> & { flood(chunks: number): Promise<void> } {
  const window = 8 * 1024 * 1024;
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: window, enablePush: false } });
  session.once("connect", () => session.setLocalWindowSize(window));
  const call = (path: string, body: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { ":method": "POST", ":path": path, te: "trailers", "content-type": "application/grpc", "user-agent": "bench" };
      const stream = session.request(headers);
      stream.on("response", () => {});
      stream.on("data", () => {});
      stream.on("trailers", () => {});
      stream.on("end", resolve);
      stream.on("error", reject);
      const prefixed = Buffer.alloc(5 + body.length);
      prefixed.writeUInt32BE(body.length, 1);
      prefixed.set(body, 5);
      stream.end(prefixed);
    });
  return {
    name: "node:http2",
    unary: (times, inFlight) => workers(times, inFlight, () => call(SAME, message)),
    flood: (chunks) => call(FLOOD, Buffer.from(String(chunks))),
    close: () => new Promise((resolve) => session.close(resolve)),
  };
}

function whole(bytes: number, chunks: number): void {
  if (bytes !== chunks * CHUNK) throw new Error(`${bytes} bytes came instead of ${chunks * CHUNK}`);
}

async function workers(times: number, inFlight: number, once: () => Promise<void>): Promise<void> {
  let left = times;
  const work = async (): Promise<void> => {
    while (left-- > 0) await once();
  };
  await Promise.all(Array.from({ length: Math.min(times, inFlight) }, work));
}
