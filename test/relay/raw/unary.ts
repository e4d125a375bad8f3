import * as grpc from "@grpc/grpc-js";
import { grpcServer } from "./grpc-server.js";
import { type Failed, type RpcCarrier, rpcClient } from "./rpc-client.js";
import { hostOf } from "./sockets.js";
import type { RawWire } from "./types.js";

const same = (bytes: Buffer): Buffer => bytes;

function grpcCarrier(address: string): RpcCarrier {
  const client = new grpc.Client(hostOf(address), grpc.credentials.createInsecure());
  const open = new Set<grpc.ClientReadableStream<Buffer>>();
  return {
    call(rpc, bytes, headers, take) {
      const metadata = new grpc.Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      // A call with one answer is a stream of one, too.
      const call = client.makeServerStreamRequest(rpc.path, same, same, Buffer.from(bytes), metadata);
      open.add(call);
      call.on("close", () => open.delete(call));
      return new Promise((resolve) => {
        let session: string | undefined;
        call.on("metadata", (received: grpc.Metadata) => {
          session = received.get("mcp-session-id")[0]?.toString();
        });
        call.on("data", (part: Buffer) => {
          if (take(part)) return;
          resolve({ session });
          call.cancel();
        });
        call.on("error", (error: grpc.ServiceError) => resolve({ session, failed: failedOf(error) }));
        call.on("end", () => resolve({ session }));
      });
    },
    async close() {
      for (const call of open) call.cancel();
      client.close();
    },
  };
}

function failedOf(error: grpc.ServiceError): Failed {
  const get = (name: string): string | undefined => {
    const value = error.metadata.get(name)[0];
    return Buffer.isBuffer(value) ? value.toString("base64") : value;
  };
  return { message: error.details, get };
}

/** `mcp.v1` with an RPC for each call. */
export const unary: RawWire = {
  client: async (address, era, take) => rpcClient(grpcCarrier(address), era, take),
  server: grpcServer,
};
