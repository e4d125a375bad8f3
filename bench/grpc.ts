import { performance } from "node:perf_hooks";
import { connect, type McpClient } from "anywire";
import { listening } from "./child.js";
import { start as startPair } from "./contenders.js";
import { atLeast, atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import { madeAtFirst, textOf } from "./first.js";
import { bareHttp2, connectNode, grpcJs } from "./grpc/clients.js";
import { start } from "./grpc/peers.js";
import { holdSessions } from "./grpc/sessions.js";
import { readOver } from "./read.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";
import { CHUNK, MANY, WORKERS } from "./sizes.js";

/** MCP over gRPC: rates beside bare streams of grpc-js and connect-node and beside the SDK over HTTP, streaming, memory, distance. */
export const grpc: Bench = { name: "grpc", run };

const MB = 1e6;
const SESSIONS = 1000;
const DELAY_MS = 10;
const OFFSET = 900 * MB;

async function run(): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const part of [rates, firstOfMany, reading, far, () => readOver("grpc", 32, "wide"), seeking, sessions]) outcomes.push(await part());
  return { figures: outcomes.flatMap(({ figures }) => figures), notes: outcomes.flatMap(({ notes }) => notes) };
}

type Eight = [Rated, Rated, Rated, Rated, Rated, Rated, Rated, Rated];

/** Whole tool calls against messages that nobody looks into. */
async function rates(): Promise<Outcome> {
  const pairs = await Promise.all([
    startPair("anywire", "modern", "plain", "grpc"),
    startPair("anywire", "legacy", "plain", "grpc"),
    startPair("anywire", "modern", "plain", "grpc-rpc"),
    startPair("anywire", "legacy", "plain", "grpc-rpc"),
    startPair("sdk", "modern", "plain", "http"),
    startPair("sdk", "legacy", "plain", "http"),
  ]);
  const servers = await Promise.all([start("grpc-js"), start("connect")]);
  const stacks = [grpcJs(servers[0].port), connectNode(servers[1].port)];
  try {
    const contenders: Contender[] = [
      ...pairs.map((pair) => pair.contender("many")),
      ...stacks.map((stack) => timed(`${stack.name}, bare messages there and back`, (times) => stack.chat(times, WORKERS))),
    ];
    const rated = await takeTurns(contenders, { rounds: 15, ms: 200, warmUpMs: 3000 });
    const [session, sessionLegacy, unary, unaryLegacy, sdkModern, sdkLegacy, grpcjs, connected] = rated as Eight;
    return {
      figures: [
        atLeast(`grpc: tool calls on Session, ${WORKERS} in flight, over bare messages of grpc-js`, ratio(session, grpcjs), 1.5, "x"),
        atLeast("grpc: the same over bare messages of connect-node", ratio(session, connected), 1.5, "x"),
        atLeast(
          `grpc: echo calls, ${WORKERS} at a time, Session over the SDK's Streamable HTTP, modern`,
          ratio(session, sdkModern),
          30,
          "x",
        ),
        atLeast("grpc: the same, legacy", ratio(sessionLegacy, sdkLegacy), 30, "x"),
        atLeast("grpc: the same, unary, modern", ratio(unary, sdkModern), 8, "x"),
        atLeast("grpc: the same, unary, legacy", ratio(unaryLegacy, sdkLegacy), 8, "x"),
      ],
      notes: rated.map(
        ({ name, rates: all }) => `grpc, ${WORKERS} at a time: ${name.padEnd(44)} ${format(median(all)).padStart(8)} a second`,
      ),
    };
  } finally {
    await Promise.all([...pairs.map((pair) => pair.close()), ...stacks.map((stack) => stack.close())]);
    await Promise.all(servers.map((server) => server.close()));
  }
}

async function firstOfMany(): Promise<Outcome> {
  await using server = await listening("anywire", "many", "grpc://127.0.0.1:0");
  await using client = await connect(server.address);
  const made = await madeAtFirst(client, async () => Number(textOf(await client.callTool("made"))));
  return { figures: [atMost(`tools made when the first of ${MANY.toLocaleString("en-US")} is read, grpc`, made, 2000, "")], notes: [] };
}

/** Resources against bare HTTP/2 with the same chunks. */
async function reading(): Promise<Outcome> {
  await using server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  await using client = await connect(server.address);
  const peer = await start("http2");
  const bare = bareHttp2(peer.port);
  try {
    const contenders = [timed("a resource over gRPC", (chunks) => readAll(client, chunks)), timed("bare node:http2", bare.flood)];
    const rated = await takeTurns(contenders, { rounds: 9, ms: 400, warmUpMs: 1500 });
    const [ours, floor] = rated as [Rated, Rated];
    return {
      figures: [atLeast("grpc: MB a second of a resource over bare node:http2 with the same chunks", ratio(ours, floor), 0.7, "x")],
      notes: rated.map(({ name, rates: all }) => `${name}: ${format((median(all) * CHUNK) / MB)} MB a second`),
    };
  } finally {
    await bare.close();
    await peer.close();
  }
}

/** 64 MB through a proxy that holds every byte back. */
async function far(): Promise<Outcome> {
  await using server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  const their = await start("grpc-js");
  const proxies = await Promise.all(
    [server.address.split(":").at(-1), their.port].map((port) => start("proxy", String(port), String(DELAY_MS))),
  );
  await using client = await connect(`grpc://127.0.0.1:${proxies[0]?.port}`);
  const theirs = grpcJs(proxies[1]?.port as number);
  try {
    const rate = async (read: (chunks: number) => Promise<void>, chunks: number): Promise<number> => {
      await read(1);
      const began = performance.now();
      await read(chunks);
      return (chunks * CHUNK) / 1000 / (performance.now() - began);
    };
    const [mine, other] = [await rate((chunks) => readAll(client, chunks), 1024), await rate(theirs.flood, 128)];
    return {
      figures: [atLeast(`grpc: 64 MB at ${DELAY_MS} ms each way over grpc-js with its defaults`, mine / other, 10, "x")],
      notes: [`at ${DELAY_MS} ms each way: a resource over gRPC ${format(mine)} MB a second, grpc-js ${format(other, 1)}`],
    };
  } finally {
    await theirs.close();
    await Promise.all([...proxies, their].map((each) => each.close()));
  }
}

/** A read that begins near the end of 1 GB. */
async function seeking(): Promise<Outcome> {
  await using server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  await using client = await connect(server.address);
  const size = Math.ceil((1000 * MB) / CHUNK) * CHUNK;
  let read = 0;
  for await (const { data } of client.readChunks(`bench://octets/same/${size}`, { offset: OFFSET })) read += data.length;
  if (read !== size - OFFSET) throw new Error(`read ${read} octets after ${OFFSET} of ${size}`);
  const produced = Number(textOf(await client.callTool("produced")));
  return {
    figures: [atMost("grpc: MB produced for a read from 900 MB of 1 GB", produced / MB, (size - OFFSET + CHUNK) / MB, " MB", 1)],
    notes: [],
  };
}

async function sessions(): Promise<Outcome> {
  const { client, server } = await holdSessions(SESSIONS);
  const figure = (name: string, bytes: number): Figure =>
    atMost(
      `grpc: KiB for each of ${SESSIONS.toLocaleString("en-US")} open Sessions on one connection, ${name}`,
      bytes / SESSIONS / 1024,
      64,
      " KiB",
      1,
    );
  return { figures: [figure("client", client), figure("server", server)], notes: [] };
}

async function readAll(client: McpClient, chunks: number): Promise<void> {
  let bytes = 0;
  for await (const { data } of client.readChunks(`bench://octets/same/${chunks * CHUNK}`)) bytes += data.length;
  if (bytes !== chunks * CHUNK) throw new Error(`read ${bytes} octets of ${chunks * CHUNK}`);
}

function timed(name: string, work: (times: number) => Promise<void>): Contender {
  return {
    name,
    async run(times) {
      const began = performance.now();
      await work(times);
      return performance.now() - began;
    },
  };
}
