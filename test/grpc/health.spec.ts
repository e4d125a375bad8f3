import * as grpc from "@grpc/grpc-js";
import { describe, expect, it, vi } from "vitest";
import { type Listener, serve } from "../../src/api/index.js";
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../src/codec/gen/grpc/health/v1/health_pb.js";
import { Peer, sample } from "./peers.js";

const base = "/grpc.health.v1.Health/";
const checks = [HealthCheckRequestSchema, HealthCheckResponseSchema] as const;

function check(peer: Peer, service: string): Promise<number> {
  return peer.unary(`${base}Check`, checks, { service }).then(({ status }) => status);
}

interface Watched {
  readonly seen: number[];
  readonly ended: Promise<number | undefined>;
  cancel(): void;
}

function watch(peer: Peer, service: string): Watched {
  const seen: number[] = [];
  const call = peer.stream(`${base}Watch`, checks, { service });
  call.on("data", ({ status }) => seen.push(status));
  const ended = new Promise<number | undefined>((resolve) => {
    call.on("error", (error: grpc.ServiceError) => resolve(error.code)).on("end", () => resolve(undefined));
  });
  return { seen, ended, cancel: () => call.cancel() };
}

const opened = (options = {}): Promise<Listener> => serve(sample(), "grpc://127.0.0.1:0", options);

describe("health", () => {
  it("serves while it listens: the whole and each service", async () => {
    await using listener = await opened();
    using peer = new Peer(listener.address);
    for (const service of ["", "mcp.v1.McpService", "buf.mcp.v1.MCPService", "MCP"])
      expect(await check(peer, service)).toBe(Serving.SERVING);
    await expect(check(peer, "none")).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
    const { statuses } = await peer.unary(`${base}List`, [HealthListRequestSchema, HealthListResponseSchema], {});
    expect(Object.entries(statuses).map(([name, { status }]) => [name, status])).toEqual(
      ["", "mcp.v1.McpService", "buf.mcp.v1.MCPService", "MCP"].map((name) => [name, Serving.SERVING]),
    );
    await expect(peer.unary(`${base}None`, checks, {})).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
  });

  it("tells a watch when the listener begins to close, while calls in flight go on", async () => {
    const server = sample();
    const listener = await serve(server, "grpc://127.0.0.1:0", { drainMs: 10_000 });
    using peer = new Peer(listener.address);
    const known = watch(peer, "mcp.v1.McpService");
    const unknown = watch(peer, "none");
    await vi.waitFor(() => expect([known.seen, unknown.seen]).toEqual([[Serving.SERVING], [Serving.SERVICE_UNKNOWN]]), { timeout: 10_000 });
    const call = peer.makeUnaryRequest(
      "/mcp.v1.McpService/CallTool",
      (bytes: Buffer) => bytes,
      (bytes) => bytes,
      Buffer.from([0x0a, 4, ...Buffer.from("wait")]),
      () => {},
    );
    await vi.waitFor(() => expect(server.calls).toEqual(["wait"]), { timeout: 10_000 });
    const closing = listener.close();
    expect(await known.ended).toBe(grpc.status.UNAVAILABLE);
    expect(await unknown.ended).toBe(grpc.status.UNAVAILABLE);
    expect([known.seen, unknown.seen]).toEqual([[Serving.SERVING, Serving.NOT_SERVING], [Serving.SERVICE_UNKNOWN]]);
    // The call outlived the watches: they did not hold up the end, nor it them.
    expect(server.calls).toEqual(["wait"]);
    call.cancel();
    await closing;
  });

  it("forgets a watch that was cancelled", async () => {
    await using listener = await opened({ drainMs: 60_000 });
    using peer = new Peer(listener.address);
    const watched = watch(peer, "");
    await vi.waitFor(() => expect(watched.seen).toEqual([Serving.SERVING]), { timeout: 10_000 });
    watched.cancel();
    expect(await watched.ended).toBe(grpc.status.CANCELLED);
  });

  it("may be asked without credentials", async () => {
    await using listener = await opened({ auth: { verify: () => undefined } });
    using peer = new Peer(listener.address);
    expect(await check(peer, "")).toBe(Serving.SERVING);
    await expect(peer.unary("/mcp.v1.McpService/Ping", checks, {})).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  });

  it("is not told to a page of a foreign origin", async () => {
    await using listener = await opened();
    using peer = new Peer(listener.address);
    const foreign = new grpc.Metadata();
    foreign.set("origin", "https://evil.example");
    await expect(peer.unary(`${base}Check`, checks, {}, foreign)).rejects.toMatchObject({ code: grpc.status.PERMISSION_DENIED });
  });
});
