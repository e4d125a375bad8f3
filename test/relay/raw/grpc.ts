import * as grpc from "@grpc/grpc-js";
import { Asked, down, SERVICE, twins, up } from "./grpc-coding.js";
import { Parts, toServer } from "./grpc-frames.js";
import { grpcServer } from "./grpc-server.js";
import type { Plain } from "./proto.js";
import { hostOf } from "./sockets.js";
import type { RawWire } from "./types.js";

/** `mcp.v1` on one `Session` stream, by grpc-js and the protobuf messages. */
export const session: RawWire = {
  async client(address, _era, take) {
    const client = new grpc.Client(hostOf(address), grpc.credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    const stream = client.makeBidiStreamRequest(`${SERVICE}Session`, up.write, down.read, twins());
    const asked = new Asked();
    const parts = new Parts(asked.of, (id) => stream.write(toServer(`{"method":"notifications/cancelled","params":{"requestId":${id}}}`)));
    stream.on("data", (message: Plain) => {
      const text = parts.take(message);
      if (text !== undefined) take(text);
    });
    stream.on("error", () => {});
    return {
      send(text) {
        asked.note(text);
        stream.write(toServer(text));
      },
      read: (on) => void (on ? stream.resume() : stream.pause()),
      async close() {
        stream.cancel();
        client.close();
      },
    };
  },
  server: grpcServer,
};
