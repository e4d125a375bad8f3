import { get, type IncomingMessage } from "node:http";
import * as grpc from "@grpc/grpc-js";
import { McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createServer, type Listener, type ServeOptions, serve } from "../../src/api/index.js";
import { InitializeRequestSchema, InitializeResponseSchema } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { sdkService } from "../../src/sdk/index.js";
import { Peer } from "../grpc/peers.js";
import { initialize } from "../http/requests.js";
import { type Answer, postFrom } from "./from.js";

/** Whoever holds the token "a" is a. */
const auth = { verify: (token: string) => ({ id: token }) };
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const [HERE, THERE] = ["127.0.0.1", "127.0.0.2"];
const few: ServeOptions = { maxSessions: 40, drainMs: 0 };

function open(options: ServeOptions, scheme = "http"): Promise<Listener> {
  return serve(createServer({ name: "x", version: "1" }), `${scheme}://127.0.0.1:0`, options);
}

function session({ headers }: Answer): Record<string, string> {
  return { "mcp-session-id": String(headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" };
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const refused = { status: 429, body: { error: { data: { limit: "maxSessionsPerPrincipal", max: 10 } } } };

afterEach(() => void vi.restoreAllMocks());

/** From now on it is that many milliseconds later. */
function later(ms: number): void {
  const now = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
}

describe("sessions over HTTP", () => {
  it("of one remote address leave room for those of another", async () => {
    await using listener = await open(few);
    const { address } = listener;
    const begun: Answer[] = [];
    for (let count = 0; count < 10; count++) begun.push(await postFrom(HERE, address, initialize()));
    expect(begun.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await postFrom(HERE, address, initialize())).toMatchObject(refused);
    expect(await postFrom(THERE, address, initialize())).toMatchObject({ status: 200 });
    // Nobody's session was ended for it.
    for (const answer of begun) expect(await postFrom(HERE, address, ping, session(answer))).toMatchObject({ status: 200 });
  });

  it("of one principal leave room for those of another, wherever they come from", async () => {
    await using listener = await open({ ...few, auth });
    const { address } = listener;
    for (let count = 0; count < 10; count++)
      expect(await postFrom(count % 2 === 0 ? HERE : THERE, address, initialize(), as("a"))).toMatchObject({ status: 200 });
    expect(await postFrom(THERE, address, initialize(), as("a"))).toMatchObject(refused);
    expect(await postFrom(HERE, address, initialize(), as("b"))).toMatchObject({ status: 200 });
  });

  it("make room for the next of the same caller when they have been idle for a minute", async () => {
    await using listener = await open({ ...few, maxSessionsPerPrincipal: 2 });
    const { address } = listener;
    const other = await postFrom(THERE, address, initialize());
    const [first, second] = [await postFrom(HERE, address, initialize()), await postFrom(HERE, address, initialize())];
    later(61_000);
    // The one that was used just now is not idle.
    expect(await postFrom(HERE, address, ping, session(first))).toMatchObject({ status: 200 });
    expect(await postFrom(HERE, address, initialize())).toMatchObject({ status: 200 });
    expect(await postFrom(HERE, address, ping, session(second))).toMatchObject({ status: 404 });
    expect(await postFrom(HERE, address, ping, session(first))).toMatchObject({ status: 200 });
    expect(await postFrom(THERE, address, ping, session(other))).toMatchObject({ status: 200 });
    expect(await postFrom(HERE, address, initialize())).toMatchObject({ status: 429 });
  });

  it("make no room while a stream of theirs is open", async () => {
    await using listener = await open({ ...few, maxSessionsPerPrincipal: 1 });
    const { address } = listener;
    const kept = session(await postFrom(HERE, address, initialize()));
    const stream = await new Promise<IncomingMessage>((resolve, reject) =>
      get(address, { headers: { ...kept, accept: "text/event-stream" } }, resolve).on("error", reject),
    );
    later(61_000);
    expect(await postFrom(HERE, address, initialize())).toMatchObject({ status: 429 });
    stream.destroy();
    // It is idle from the end of its stream on, which shows a little later.
    let minutes = 1;
    await vi.waitFor(async () => {
      vi.restoreAllMocks();
      later(++minutes * 61_000);
      expect(await postFrom(HERE, address, initialize())).toMatchObject({ status: 200 });
    });
    expect(await postFrom(HERE, address, ping, kept)).toMatchObject({ status: 404 });
  });

  it("have a number in all, whoever begins them", async () => {
    await using listener = await open({ maxSessions: 2, maxSessionsPerPrincipal: 2 });
    for (const from of [HERE, THERE]) expect(await postFrom(from, listener.address, initialize())).toMatchObject({ status: 200 });
    const all = { status: 429, body: { error: { data: { limit: "maxSessions", max: 2 } } } };
    expect(await postFrom("127.0.0.3", listener.address, initialize())).toMatchObject(all);
  });

  it("may be many from one address as it is", async () => {
    await using listener = await open({ drainMs: 0 });
    for (let count = 0; count < 1_000; count++) expect(await postFrom(HERE, listener.address, initialize())).toMatchObject({ status: 200 });
  });
});

it("streams of HTTP+SSE of one remote address leave room for those of another", async () => {
  await using listener = await open(few, "sse+http");
  const url = listener.address.replace(/^sse\+/, "");
  const streams: IncomingMessage[] = [];
  const stream = async (localAddress: string): Promise<{ status: number | undefined; text: string }> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get(url, { localAddress, agent: false }, resolve).on("error", reject),
    );
    streams.push(answer);
    const text = await new Promise<string>((resolve) => answer.once("data", (chunk) => resolve(String(chunk))));
    return { status: answer.statusCode, text };
  };
  for (let count = 0; count < 10; count++) expect(await stream(HERE)).toMatchObject({ status: 200 });
  expect(await stream(HERE)).toMatchObject({ status: 429, text: expect.stringContaining("maxSessionsPerPrincipal is 10") });
  expect(await stream(THERE)).toMatchObject({ status: 200 });
  // One that ends gives its place back.
  streams[0]?.destroy();
  await vi.waitFor(async () => expect(await stream(HERE)).toMatchObject({ status: 200 }));
  for (const open of streams) open.destroy();
});

it("sessions over gRPC of one principal leave room for those of another", async () => {
  await using listener = await open({ ...few, auth }, "grpc");
  using peer = new Peer(listener.address);
  const begin = (who: string): Promise<unknown> => {
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${who}`);
    const init = { protocolVersion: "2025-11-25", clientInfo: { name: "raw", version: "1" } };
    return peer.unary("/mcp.v1.McpService/Initialize", [InitializeRequestSchema, InitializeResponseSchema], init, metadata);
  };
  for (let count = 0; count < 10; count++) await begin("a");
  await expect(begin("a")).rejects.toMatchObject({
    code: grpc.status.RESOURCE_EXHAUSTED,
    details: expect.stringContaining("maxSessionsPerPrincipal is 10"),
  });
  await begin("b");
});

it("servers of the SDK for one principal leave room for those for another", async () => {
  const service = sdkService(() => new McpServer({ name: "sdk", version: "1" }), { sessions: 8 });
  await using listener = await serve(service, "http://127.0.0.1:0", { auth, drainMs: 0 });
  const begin = (who: string): Promise<Answer> => postFrom(HERE, listener.address, initialize(), as(who));
  const start = async (who: string): Promise<void> => {
    const answer = await begin(who);
    expect(answer).toMatchObject({ status: 200 });
    await postFrom(HERE, listener.address, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...session(answer), ...as(who) });
  };
  for (let count = 0; count < 2; count++) await start("a");
  expect(await begin("a")).toMatchObject({ body: { error: { data: { limit: "sessionsPerPrincipal", max: 2 } } } });
  await start("b");
  await service.close();
});
