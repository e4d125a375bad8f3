import * as grpc from "@grpc/grpc-js";
import { hostOf } from "./sockets.js";
import type { RawWire } from "./types.js";

/** One text in field 1 of a message. */
function wrap(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = [0x0a];
  for (let length = bytes.length; ; length = Math.floor(length / 128)) {
    if (length < 128) return Buffer.concat([Buffer.from([...head, length]), bytes]);
    head.push((length % 128) | 128);
  }
}

function unwrap(message: Buffer): string {
  let at = 1;
  while ((message[at] as number) > 127) at++;
  return message.subarray(at + 1).toString("utf8");
}

const method = { path: "/MCP/Call", requestStream: true, responseStream: true } as const;
const coding = { requestSerialize: wrap, requestDeserialize: unwrap, responseSerialize: wrap, responseDeserialize: unwrap };

export const tunnel: RawWire = {
  async client(address, _era, take) {
    const client = new grpc.Client(hostOf(address), grpc.credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    const stream = client.makeBidiStreamRequest(method.path, wrap, unwrap);
    stream.on("data", take);
    stream.on("error", () => {});
    return {
      send: (text) => void stream.write(text),
      read: (on) => void (on ? stream.resume() : stream.pause()),
      async close() {
        stream.cancel();
        client.close();
      },
    };
  },
  async server(_era, take, wanted = 0) {
    const server = new grpc.Server();
    let current: grpc.ServerDuplexStream<string, string> | undefined;
    server.addService(
      { Call: { ...method, ...coding } },
      {
        Call(stream: grpc.ServerDuplexStream<string, string>) {
          current = stream;
          stream.on("data", take);
          stream.on("error", () => {});
          stream.on("end", () => stream.end());
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${wanted}`, grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    return {
      address: `tunnel+grpc://127.0.0.1:${port}`,
      send: (text) => void current?.write(text),
      close: async () => server.forceShutdown(),
    };
  },
};
