import { setTimeout as sleep } from "node:timers/promises";
import type * as grpc from "@grpc/grpc-js";
import { Metadata } from "@grpc/grpc-js";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { serve } from "../../src/api/index.js";
import {
  SessionRequestSchema,
  SessionResponseSchema,
  StreamToolCallsRequestSchema,
  StreamToolCallsResponseSchema,
} from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { JsonRpcMessageSchema } from "../../src/codec/gen/mcp_tunnel_pb.js";
import type { Principal } from "../../src/io/index.js";
import { Peer, sample } from "../grpc/peers.js";

/** A stream that a foreign client holds open with a token. */
interface Held {
  /** Asks for something on the stream; undefined where nothing can be asked on it. */
  readonly call?: () => Promise<unknown>;
  /** What the client is told when the stream ends. */
  readonly ended: Promise<string>;
  close(): void;
}
type Open = (url: string, authorization: string) => Promise<Held>;

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

function duplex<In, Out>(peer: Peer, stream: grpc.ClientDuplexStream<In, Out>, message: In): Held {
  const ended = new Promise<string>((resolve) => {
    stream.on("status", ({ code, details }) => resolve(`${code} ${details}`));
    stream.on("error", () => {});
  });
  return {
    call: () =>
      new Promise((resolve) => {
        stream.once("data", resolve);
        stream.write(message);
      }),
    ended,
    close: () => peer.close(),
  };
}

function bidi(path: string, schemas: readonly [never, never], message: unknown): Open {
  return async (url, authorization) => {
    const peer = new Peer(url);
    const metadata = new Metadata();
    metadata.set("authorization", authorization);
    return duplex(peer, peer.duplex(path, schemas, metadata), message as never);
  };
}

async function streamed(url: string, init: RequestInit): Promise<Held> {
  const leaving = new AbortController();
  const answer = await fetch(url, { ...init, signal: leaving.signal });
  expect(answer.status).toBe(200);
  const read = async (): Promise<string> => {
    try {
      for await (const _ of answer.body as unknown as AsyncIterable<Uint8Array>);
      return "ended";
    } catch {
      return "cut";
    }
  };
  return { ended: read(), close: () => leaving.abort() };
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };

const wires: Record<string, readonly [address: string, open: Open, told: string]> = {
  WebSocket: [
    "ws://127.0.0.1:0/mcp",
    async (url, authorization) => {
      const socket = new WebSocket(url, ["mcp"], { headers: { authorization } });
      const ended = new Promise<string>((resolve) => socket.once("close", (code, reason) => resolve(`${code} ${reason.toString()}`)));
      await new Promise((resolve) => socket.once("open", resolve));
      return {
        call: () =>
          new Promise((resolve) => {
            socket.once("message", resolve);
            socket.send(JSON.stringify(ping));
          }),
        ended,
        close: () => socket.terminate(),
      };
    },
    "3000 the credentials of this stream are no longer valid",
  ],
  Session: [
    "grpc://127.0.0.1:0",
    bidi("/mcp.v1.McpService/Session", [SessionRequestSchema as never, SessionResponseSchema as never], {
      $typeName: "mcp.v1.SessionRequest",
      messageId: "1",
      payload: { case: "ping", value: { $typeName: "mcp.v1.PingRequest" } },
    }),
    "16 the credentials of this stream are no longer valid",
  ],
  tunnel: [
    "tunnel+grpc://127.0.0.1:0",
    bidi("/MCP/Call", [JsonRpcMessageSchema as never, JsonRpcMessageSchema as never], {
      $typeName: "JsonRpcMessage",
      message: Buffer.from(JSON.stringify(ping)),
    }),
    "16 the credentials of this stream are no longer valid",
  ],
  StreamToolCalls: [
    "grpc://127.0.0.1:0",
    bidi("/mcp.v1.McpService/StreamToolCalls", [StreamToolCallsRequestSchema as never, StreamToolCallsResponseSchema as never], {
      $typeName: "mcp.v1.StreamToolCallsRequest",
      requestId: "1",
      name: "echo",
      arguments: { text: "x" },
    }),
    "16 the credentials of this stream are no longer valid",
  ],
  "HTTP+SSE": ["sse+http://127.0.0.1:0/sse", (url, authorization) => streamed(url, { headers: { authorization } }), "ended"],
  "the GET of a legacy HTTP session": [
    "http://127.0.0.1:0/mcp",
    async (url, authorization) => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
      const body = JSON.stringify({ ...ping, method: "initialize", params });
      const answer = await fetch(url, { method: "POST", headers: { ...json, authorization }, body });
      await answer.text();
      const session = { "mcp-session-id": answer.headers.get("mcp-session-id") as string };
      return streamed(url, { headers: { authorization, accept: "text/event-stream", ...session } });
    },
    "cut",
  ],
  "subscriptions/listen over HTTP": [
    "http://127.0.0.1:0/mcp",
    (url, authorization) =>
      streamed(url, {
        method: "POST",
        headers: { ...json, authorization, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
        body: JSON.stringify({ ...ping, method: "subscriptions/listen", params: { _meta, notifications: { toolsListChanged: true } } }),
      }),
    "cut",
  ],
};

describe.each(Object.entries(wires))("the credentials of %s", (_name, [address, open, told]) => {
  const begin = async (verify: (token: string) => Principal | undefined, recheckMs: number) => {
    const listener = await serve(sample(), address, { auth: { verify, recheckMs } });
    const held = await open(listener.address.replace("sse+", ""), "Bearer good");
    await held.call?.();
    return {
      held,
      async [Symbol.asyncDispose]() {
        held.close();
        await listener.close();
      },
    };
  };

  it("are verified again while it is open, and end it when they are revoked", async () => {
    let valid = true;
    const verify = vi.fn((): Principal | undefined => (valid ? { id: "ada" } : undefined));
    await using at = await begin(verify, 20);
    await vi.waitUntil(() => verify.mock.calls.length > 4, { timeout: 10_000 });
    await at.held.call?.();
    valid = false;
    expect(await at.held.ended).toBe(told);
  });

  it("end it when they expire, and not before", async () => {
    const expiresAt = Date.now() + 700;
    await using at = await begin(() => ({ id: "ada", expiresAt }), 60_000);
    expect(await at.held.ended).toBe(told);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
  });

  it("end it when they come to stand for somebody else, or when nobody says what they stand for", async () => {
    let id = "ada";
    await using other = await begin(() => ({ id }), 20);
    id = "bob";
    expect(await other.held.ended).toBe(told);
    let silent = false;
    const later = (): Principal => (silent ? (sleep(60_000, undefined, { ref: false }) as never) : { id: "ada" });
    await using slow = await begin(later, 20);
    silent = true;
    expect(await slow.held.ended).toBe(told);
  });
});

it("a token that has expired already opens nothing", async () => {
  await using listener = await serve(sample(), "sse+http://127.0.0.1:0/sse", { auth: { verify: () => ({ id: "ada", expiresAt: 1 }) } });
  const answer = await fetch(listener.address.replace("sse+", ""), { headers: { authorization: "Bearer good" } });
  expect(answer.status).toBe(401);
});
