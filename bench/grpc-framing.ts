import { performance } from "node:perf_hooks";
import { atLeast, atMost, type Bench, format, type Outcome } from "./figure.js";
import { bareHttp2, connectNode, grpcJs, ours, plainGrpc, type Stack } from "./grpc/clients.js";
import { type Child, start } from "./grpc/peers.js";
import { CHUNK } from "./grpc/service.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";

/** gRPC framing of our own beside grpc-js, connect-node and bare node:http2: one process a server, raw bytes. */
export const grpcFraming: Bench = { name: "grpc-framing", run };

const IN_FLIGHT = 64;
/** Work is done in lots, so that the beginning of a stream weighs little however short a round is. */
const LOT = 256;
const OPEN = 1000;
const DELAY_MS = 10;
const MB = 1e6;

async function run(): Promise<Outcome> {
  const children = await Promise.all(["ours", "grpc-js", "connect", "http2"].map((role) => start(role)));
  const [a, b, c, d] = children as [Child, Child, Child, Child];
  const [mine, theirs, connected, bare] = [ours(a.port), grpcJs(b.port), connectNode(c.port), bareHttp2(d.port)];
  const plain = plainGrpc(a.port);
  try {
    const stacks: readonly Stack[] = [mine, theirs, connected];
    const chat = await race(stacks.map((stack) => timed(stack.name, (times) => stack.chat(times * LOT, IN_FLIGHT))));
    const unary = await race(stacks.map((stack) => timed(stack.name, (times) => stack.unary(times * LOT, IN_FLIGHT))));
    const chunks = await race([mine, bare, theirs].map(({ name, flood }) => timed(name, (times) => flood(times * LOT))));
    const chunkCpu = { mine: await cpu(mine.flood, a), bare: await cpu(bare.flood, d), theirs: await cpu(theirs.flood, b) };
    const callCpu = {
      mine: await cpu((times) => mine.unary(times, IN_FLIGHT), a),
      theirs: await cpu((times) => theirs.unary(times, IN_FLIGHT), b),
    };
    const client = {
      call: await clientCpu(
        (times) => mine.unary(times, IN_FLIGHT),
        (times) => plain.unary(times, IN_FLIGHT),
      ),
      chunk: await clientCpu(mine.flood, plain.flood),
    };
    const far = await delayed(a.port, b.port);
    const memory = { ours: await held("ours"), theirs: await held("grpc-js") };
    const [chatOurs, chatGrpcJs, chatConnect] = chat as [Rated, Rated, Rated];
    return {
      figures: [
        atLeast(`messages on one gRPC stream, ${IN_FLIGHT} in flight, over grpc-js's`, ratio(chatOurs, chatGrpcJs), 3, "x"),
        atLeast("the same over connect-node's", ratio(chatOurs, chatConnect), 3, "x"),
        atLeast(`CPU of a unary gRPC call, ${IN_FLIGHT} at a time, with grpc-js over ours`, callCpu.theirs / callCpu.mine, 1.3, "x"),
        atMost("CPU of a 64 KiB chunk over bare node:http2's", chunkCpu.mine / chunkCpu.bare, 3, "x", 2),
        atLeast("CPU of a 64 KiB chunk with grpc-js over ours", chunkCpu.theirs / chunkCpu.mine, 1, "x"),
        atLeast("CPU of the client for a unary call, node:http2's over ours", client.call.theirs / client.call.ours, 2, "x"),
        atLeast("CPU of the client for a 64 KiB chunk, node:http2's over ours", client.chunk.theirs / client.chunk.ours, 0.8, "x"),
        atLeast(`64 MB at ${DELAY_MS} ms each way over grpc-js's defaults`, far.ours / far.theirs, 10, "x"),
        atMost(`${OPEN} open gRPC streams, server`, memory.ours.server / MB, 25, " MB"),
      ],
      notes: [
        ...table("messages/s", chat, LOT),
        ...table("unary calls/s", unary, LOT),
        ...table("MB/s in 64 KiB chunks", chunks, (LOT * CHUNK) / MB),
        `CPU of a unary call, client and server, µs: anywire ${format(callCpu.mine)}, grpc-js ${format(callCpu.theirs)}`,
        `CPU of a 64 KiB chunk, client and server, µs: anywire ${format(chunkCpu.mine)}, node:http2 ${format(chunkCpu.bare)}, grpc-js ${format(chunkCpu.theirs)}`,
        `CPU of the client alone, the same server, µs a unary call: anywire ${format(client.call.ours)}, node:http2 ${format(client.call.theirs)}`,
        `the same, µs a 64 KiB chunk: anywire ${format(client.chunk.ours)}, node:http2 that drops the bytes ${format(client.chunk.theirs)}`,
        `at ${DELAY_MS} ms each way: anywire ${format(far.ours)} MB/s, grpc-js ${format(far.theirs, 1)} MB/s`,
        `${OPEN} open streams, MB, client and server: anywire ${both(memory.ours)}, grpc-js ${both(memory.theirs)}`,
      ],
    };
  } finally {
    await Promise.all([mine.close(), theirs.close(), bare.close(), plain.close()]);
    await Promise.all(children.map((child) => child.close()));
  }
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

function race(contenders: readonly Contender[]): Promise<Rated[]> {
  return takeTurns(contenders, { rounds: 9, ms: 200, warmUpMs: 800 });
}

function table(title: string, rated: readonly Rated[], factor: number): string[] {
  return rated.map(({ name, rates }) => `${title}: ${name} ${format(median(rates) * factor)}`);
}

/** Microseconds of CPU that one of many takes, of both processes together: that the machine is busy otherwise shows less in it. */
async function cpu(work: (times: number) => Promise<void>, server: Child): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = { client: process.cpuUsage(), server: await server.ask("cpu") };
    await work(8 * LOT);
    const { user, system } = process.cpuUsage(before.client);
    rounds.push((user + system + (await server.ask("cpu")) - before.server) / (8 * LOT));
  }
  return median(rounds);
}

/** Microseconds of CPU that this process takes for one of many, ours and theirs in turn. */
async function clientCpu(our: (times: number) => Promise<void>, their: (times: number) => Promise<void>): Promise<Measured> {
  const took: Record<keyof Measured, number[]> = { ours: [], theirs: [] };
  for (let round = 0; round < 7; round++) {
    for (const [who, work] of [["ours", our] as const, ["theirs", their] as const]) {
      const before = process.cpuUsage();
      await work(8 * LOT);
      const { user, system } = process.cpuUsage(before);
      took[who].push((user + system) / (8 * LOT));
    }
  }
  return { ours: median(took.ours), theirs: median(took.theirs) };
}

interface Measured {
  readonly ours: number;
  readonly theirs: number;
}

/** MB a second through a proxy that holds every byte back: ours 64 MB, grpc-js a few, for it would take most of a minute. */
async function delayed(our: number, their: number): Promise<{ ours: number; theirs: number }> {
  const proxies = await Promise.all([our, their].map((port) => start("proxy", String(port), String(DELAY_MS))));
  const [first, second] = proxies as [Child, Child];
  const [mine, theirs] = [ours(first.port), grpcJs(second.port)];
  const rate = async (flood: (chunks: number) => Promise<void>, chunks: number): Promise<number> => {
    await flood(1);
    const began = performance.now();
    await flood(chunks);
    return (chunks * CHUNK) / 1000 / (performance.now() - began);
  };
  const rates = { ours: await rate(mine.flood, 1024), theirs: await rate(theirs.flood, 128) };
  await Promise.all([mine.close(), theirs.close()]);
  await Promise.all(proxies.map((proxy) => proxy.close()));
  return rates;
}

interface Held {
  readonly client: number;
  readonly server: number;
}

const both = ({ client, server }: Held): string => `${format(client / MB)} and ${format(server / MB)}`;

/** What open streams cost, in a server and a client that did nothing else. */
async function held(stack: string): Promise<Held> {
  const server = await start(stack);
  const client = await start("hold", stack, String(server.port), String(OPEN));
  const before = await server.ask("memory");
  const figure = { client: await client.ask("memory"), server: (await server.ask("memory")) - before };
  await client.close();
  await server.close();
  return figure;
}
