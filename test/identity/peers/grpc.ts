import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import type { JsonObject } from "../../../src/api/index.js";
import {
  CallToolRequestSchema,
  CallToolResponseSchema,
  CallToolWithProgressRequestSchema,
  CallToolWithProgressResponseSchema,
  InitializeRequestSchema,
  InitializeResponseSchema,
  ReadResourceRequestSchema,
  ReadResourceResponseSchema,
  SessionRequestSchema,
  SessionResponseSchema,
} from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import { JsonRpcMessageSchema } from "../../../src/codec/gen/mcp_tunnel_pb.js";
import { Peer } from "../../grpc/peers.js";
import { answerOf, type Caller } from "../caller.js";
import { bytes, ofFrame, parsed, toFrame } from "./mcp-v1.js";
import { type Channel, legacyCaller, modernCaller, type Opening, streamPeer } from "./raw.js";
import { type Headers, type Rpcs, rpcPeer } from "./rpc.js";

const SERVICE = "/mcp.v1.McpService/";

/** A `Session` stream of grpc-js. */
export function sessionStream(address: string, headers: Headers = {}): Opening {
  return async (take, ended) => {
    const peer = new Peer(address);
    const stream = peer.duplex(`${SERVICE}Session`, [SessionRequestSchema, SessionResponseSchema], metadataOf(headers));
    stream.on("data", (frame) => take(ofFrame(frame)));
    return channel(peer, stream, (message) => void stream.write(create(SessionRequestSchema, toFrame(message))), ended);
  };
}

/** A stream of the JSON-RPC tunnel of grpc-js. */
export function tunnelStream(address: string): Opening {
  return async (take, ended) => {
    const peer = new Peer(address);
    const stream = peer.duplex("/MCP/Call", [JsonRpcMessageSchema, JsonRpcMessageSchema]);
    stream.on("data", ({ message }) => take(parsed(message)));
    return channel(peer, stream, (message) => void stream.write(create(JsonRpcMessageSchema, { message: bytes(message) })), ended);
  };
}

function channel(
  peer: Peer,
  stream: { on(event: "error" | "end", listener: (error?: Error) => void): unknown; cancel(): void },
  send: (message: JsonObject) => void,
  ended: (reason: Error) => void,
): Channel {
  stream.on("error", (error) => ended(error ?? new Error("the stream failed")));
  stream.on("end", () => ended(new Error("the stream ended")));
  return {
    send,
    close: async () => {
      stream.cancel();
      peer.close();
    },
  };
}

/** A modern client of grpc-js whose every request is an RPC of its own. */
export async function unaryCaller(name: string, address: string, headers: Headers = {}): Promise<Caller> {
  return modernCaller(name, rpcPeer(rpcsOf(new Peer(address)), headers));
}

/** A legacy client of grpc-js: it opens its session by an RPC, calls by RPCs, and is asked on a stream of that session. */
export interface SessionCaller extends Caller {
  /** Drops the stream and opens another in the same session. */
  reconnect(): Promise<void>;
}

export async function unarySessionCaller(name: string, address: string): Promise<SessionCaller> {
  const peer = new Peer(address);
  const headers = { "mcp-session-id": await begin(peer) };
  const calls = rpcPeer(rpcsOf(peer), headers);
  const open = async (): Promise<Channel> => {
    const stream = await streamPeer(sessionStream(address, headers), answerOf(name), calls.heard);
    // The stream is there when something has come back on it.
    await stream.request("ping", {});
    return stream;
  };
  let stream = await open();
  return {
    ...legacyCaller(name, calls),
    async reconnect() {
      await stream.close();
      // The session takes a second stream once it has seen the end of the first.
      for (let tries = 0; ; tries++) {
        try {
          stream = await open();
          return;
        } catch (error) {
          if (tries === 50) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    },
    async close() {
      await stream.close();
      peer.close();
    },
  };
}

/** Opens a session by the RPC; resolves with its name, once the answer is there. */
function begin(peer: Peer): Promise<string> {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const request = create(InitializeRequestSchema, {
    protocolVersion: "2025-11-25",
    capabilities,
    clientInfo: { name: "raw", version: "0" },
  });
  return new Promise((resolve, reject) => {
    let session: grpc.MetadataValue | undefined;
    peer
      .makeUnaryRequest(
        `${SERVICE}Initialize`,
        (message: typeof request) => Buffer.from(toBinary(InitializeRequestSchema, message)),
        (answer) => fromBinary(InitializeResponseSchema, answer),
        request,
        (error) => (error === null ? resolve(String(session)) : reject(error)),
      )
      .on("metadata", (headers) => {
        [session] = headers.get("mcp-session-id");
      });
  });
}

function rpcsOf(peer: Peer): Rpcs {
  return {
    callTool: (request, headers) =>
      peer.unary(`${SERVICE}CallTool`, [CallToolRequestSchema, CallToolResponseSchema], request, metadataOf(headers)),
    callToolWithProgress: (request, headers) =>
      peer.stream(
        `${SERVICE}CallToolWithProgress`,
        [CallToolWithProgressRequestSchema, CallToolWithProgressResponseSchema],
        request,
        metadataOf(headers),
      ),
    readResource: (request, headers) =>
      peer.unary(`${SERVICE}ReadResource`, [ReadResourceRequestSchema, ReadResourceResponseSchema], request, metadataOf(headers)),
    close: async () => peer.close(),
  };
}

function metadataOf(headers: Headers): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}
