import type { Era } from "../../src/api/index.js";
import type { Caller } from "./caller.js";
import type { Chain, ListenWire, SocketWire } from "./chain.js";
import { connectCaller } from "./peers/connect.js";
import { sessionStream, tunnelStream, unaryCaller, unarySessionCaller } from "./peers/grpc.js";
import { fetchCaller } from "./peers/http.js";
import { streamCaller } from "./peers/raw.js";
import { sdkV1Caller, sdkV2Caller, transports } from "./peers/sdk.js";
import { lineSocket, rawStream } from "./peers/sockets.js";
import { webSocket } from "./peers/websocket.js";

/** A kind of client and the wire that it comes on. */
export interface Row<Wire = ListenWire> {
  readonly name: string;
  readonly listen: Wire;
  readonly era: Era;
  /** What tells this client from another between two of its calls; `nothing`: each call stands for itself. */
  readonly by: "session" | "stream" | "principal" | "nothing";
  /** Many clients can use one front relay at a time. */
  readonly many: boolean;
  open(chain: Chain, name: string): Promise<Caller>;
}

const bearer = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const v1 = sdkV1Caller;
const v2 = sdkV2Caller;

const pathOf = (address: string): string => address.replace(/^[^:]*:/, "");

type Short<Wire = ListenWire> = readonly [name: string, listen: Wire, era: Era, by: Row["by"], open: Row["open"]];

const short: readonly Short[] = [
  ["stdio, SDK v1", "stdio", "legacy", "stream", ({ child }, name) => v1(name, transports.v1.stdio(child))],
  ["stdio, SDK v2, legacy", "stdio", "legacy", "stream", ({ child }, name) => v2(name, "legacy", transports.v2.stdio(child))],
  ["stdio, SDK v2, modern", "stdio", "modern", "stream", ({ child }, name) => v2(name, "modern", transports.v2.stdio(child))],
  ["http, SDK v1", "http", "legacy", "session", ({ address }, name) => v1(name, transports.v1.http(address))],
  ["http, SDK v2, legacy", "http", "legacy", "session", ({ address }, name) => v2(name, "legacy", transports.v2.http(address))],
  ["http, SDK v2, modern", "http", "modern", "nothing", ({ address }, name) => v2(name, "modern", transports.v2.http(address))],
  [
    "http, SDK v2, modern, bearer",
    "http",
    "modern",
    "principal",
    ({ address }, name) => v2(name, "modern", transports.v2.http(address, bearer(name))),
  ],
  ["http, fetch, modern", "http", "modern", "nothing", ({ address }, name) => fetchCaller(name, address)],
  ["http, fetch, modern, bearer", "http", "modern", "principal", ({ address }, name) => fetchCaller(name, address, bearer(name))],
  ["sse, SDK v1", "sse", "legacy", "stream", ({ address }, name) => v1(name, transports.v1.sse(address))],
  ["sse, SDK v2, legacy", "sse", "legacy", "stream", ({ address }, name) => v2(name, "legacy", transports.v2.sse(address))],
  ["ws, raw, legacy", "ws", "legacy", "stream", ({ address }, name) => streamCaller(name, "legacy", webSocket(address))],
  ["ws, raw, modern", "ws", "modern", "stream", ({ address }, name) => streamCaller(name, "modern", webSocket(address))],
  [
    "grpc Session, grpc-js, legacy",
    "grpc",
    "legacy",
    "stream",
    ({ address }, name) => streamCaller(name, "legacy", sessionStream(address)),
  ],
  [
    "grpc Session, grpc-js, modern",
    "grpc",
    "modern",
    "stream",
    ({ address }, name) => streamCaller(name, "modern", sessionStream(address)),
  ],
  ["grpc RPCs in a session, grpc-js, legacy", "grpc", "legacy", "session", ({ address }, name) => unarySessionCaller(name, address)],
  ["grpc RPCs, grpc-js, modern", "grpc", "modern", "nothing", ({ address }, name) => unaryCaller(name, address)],
  ["grpc RPCs, grpc-js, modern, bearer", "grpc", "modern", "principal", ({ address }, name) => unaryCaller(name, address, bearer(name))],
  ["tunnel, grpc-js, legacy", "grpc", "legacy", "stream", ({ address }, name) => streamCaller(name, "legacy", tunnelStream(address))],
  ["tunnel, grpc-js, modern", "grpc", "modern", "stream", ({ address }, name) => streamCaller(name, "modern", tunnelStream(address))],
  ["Connect, fetch, modern", "grpc", "modern", "nothing", ({ address }, name) => connectCaller(name, address)],
  ["Connect, fetch, modern, bearer", "grpc", "modern", "principal", ({ address }, name) => connectCaller(name, address, bearer(name))],
];

/** Carried like rows above, so that one relay is enough for them. */
const onSockets: readonly Short<SocketWire>[] = [
  ["tcp, raw, legacy", "tcp", "legacy", "stream", ({ address }, name) => streamCaller(name, "legacy", lineSocket(address))],
  ["unix, raw, modern", "unix", "modern", "stream", ({ address }, name) => streamCaller(name, "modern", lineSocket(address))],
  ["proto, raw, legacy", "proto+tcp", "legacy", "stream", ({ address }, name) => streamCaller(name, "legacy", rawStream(address))],
  ["proto, raw, modern", "proto+tcp", "modern", "stream", ({ address }, name) => streamCaller(name, "modern", rawStream(address))],
  ["http+unix, SDK v1", "http+unix", "legacy", "session", ({ address }, name) => v1(name, transports.v1.httpOnSocket(pathOf(address)))],
];

function rowOf<Wire>([name, listen, era, by, open]: Short<Wire>): Row<Wire> {
  return { name, listen, era, by, open, many: listen !== "stdio" };
}

export const rows: readonly Row[] = short.map(rowOf);
export const socketRows: readonly Row<SocketWire>[] = onSockets.map(rowOf);

/** What has no row, and why. */
export const absent: readonly (readonly [what: string, why: string])[] = [
  ["http+stdio", "its one client is the parent, and its calls are modern: nothing tells them apart, and nobody else can call"],
  ["sse, modern", "HTTP+SSE belongs to the legacy revisions: the wire serves no other"],
  ["Connect by fetch, legacy", "a legacy client is asked on a stream of both directions, which fetch has not"],
  ["grpc RPCs, legacy, without a session", "such a client cannot be asked: it has nothing to be asked on"],
];
