import { grpcServer } from "./grpc-server.js";
import { type Failed, type RpcCarrier, rpcClient } from "./rpc-client.js";
import { hostOf } from "./sockets.js";
import type { RawWire } from "./types.js";

/** An envelope of Connect: a byte of flags, four of length, the message. */
function enveloped(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function connectCarrier(address: string): RpcCarrier {
  const open = new AbortController();
  return {
    async call(rpc, bytes, headers, take) {
      const streams = rpc.answer !== "one";
      const type = streams ? "application/connect+proto" : "application/proto";
      const body = new Uint8Array(streams ? enveloped(bytes) : bytes);
      const answer = await fetch(`http://${hostOf(address)}${rpc.path}`, {
        method: "POST",
        headers: { ...headers, "content-type": type, "connect-protocol-version": "1" },
        body,
        signal: open.signal,
      });
      const session = answer.headers.get("mcp-session-id") ?? undefined;
      if (!answer.ok)
        return { session, failed: { message: messageOf(await answer.json()), get: (name) => answer.headers.get(name) ?? undefined } };
      if (!streams) {
        take(new Uint8Array(await answer.arrayBuffer()));
        return { session };
      }
      let rest = Buffer.alloc(0);
      for await (const chunk of answer.body ?? []) {
        rest = Buffer.concat([rest, chunk]);
        while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
          const part = rest.subarray(5, 5 + rest.readUInt32BE(1));
          const last = ((rest[0] as number) & 2) !== 0;
          rest = rest.subarray(5 + part.length);
          if (last) return { session, ...endOf(JSON.parse(part.toString("utf8"))) };
          if (!take(part)) return { session };
        }
      }
      return { session };
    },
    async close() {
      open.abort();
    },
  };
}

function messageOf(error: unknown): string {
  return String((error as { message?: string }).message ?? "");
}

/** The last message of a stream: whether it failed, and its trailers. */
function endOf({ error, metadata = {} }: { error?: object; metadata?: Record<string, readonly string[]> }): { failed?: Failed } {
  return error === undefined ? {} : { failed: { message: messageOf(error), get: (name) => metadata[name]?.[0] } };
}

/** Connect over HTTP/1.1, by `fetch`. There is no dialing by it, so as a server it is gRPC. */
export const connect: RawWire = {
  client: async (address, era, take) => rpcClient(connectCarrier(address), era, take),
  server: grpcServer,
};
