/** Reads the large resource once and prints a ReadReport. Arguments: the mode, and how the source comes by its buffers. */
import { performance } from "node:perf_hooks";
import { connect, createServer, type McpClient, serve } from "anywire";
import { child, listening } from "./child.js";
import { textOf } from "./first.js";
import { memoryProbe, type Peak } from "./memory.js";
import { type Buffers, OctetsCheck, octets } from "./octets.js";
import type { ReadMode, ReadReport } from "./read.js";
import { CHUNK, LARGE, WARM } from "./sizes.js";

const probe = memoryProbe();
const modes: Readonly<Record<ReadMode, () => Promise<ReadReport>>> = {
  memory: onMemory,
  stdio: onStdio,
  http: onHttp,
  grpc: onGrpc,
  alone,
};
const [mode, buffers] = process.argv.slice(2) as [ReadMode, Buffers];
process.stdout.write(JSON.stringify(await modes[mode]()));

async function onMemory(): Promise<ReadReport> {
  const server = createServer({ name: "bench", version: "1.0.0" }).resourceTemplate(
    { uriTemplate: "bench://octets/{buffers}/{size}", name: "octets" },
    (_uri, { variables }) => {
      const size = Number(variables["size"]);
      return { size, data: octets(size, variables["buffers"] as Buffers, probe.sample) };
    },
  );
  await using _listener = await serve(server, "memory:bench-read");
  await using client = await connect("memory:bench-read");
  return await readLarge(reader(client), WARM);
}

async function onStdio(): Promise<ReadReport> {
  await using client = await connect(child("anywire", "plain"));
  return await readAcross(client);
}

async function onHttp(): Promise<ReadReport> {
  await using server = await listening("anywire", "plain", "http://127.0.0.1:0/mcp");
  await using client = await connect(server.address, { era: "modern" });
  return await readAcross(client);
}

async function onGrpc(): Promise<ReadReport> {
  await using server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  await using client = await connect(server.address, { era: "modern" });
  return await readAcross(client, "wide", WARM);
}

/** From a server in a process of its own. */
async function readAcross(client: McpClient, before: Buffers = "pooled", warm = CHUNK): Promise<ReadReport> {
  const read = reader(client);
  await readWhole(read(before, warm), warm);
  await client.callTool("watch-memory");
  const report = await readLarge(read, warm, before);
  return { ...report, server: JSON.parse(textOf(await client.callTool("memory"))) as Peak };
}

function alone(): Promise<ReadReport> {
  return readLarge(async function* (how, size) {
    for await (const data of octets(size, how, probe.sample)) yield { data };
  }, WARM);
}

type Chunks = AsyncIterable<{ readonly data: string | Uint8Array }>;
type Read = (how: Buffers, size: number) => Chunks;

function reader(client: McpClient): Read {
  return (how, size) => client.readChunks(`bench://octets/${how}/${size}`);
}

/** Idle is what is there after a read of `warm` octets, from a source that leaves no buffers behind. */
async function readLarge(read: Read, warm: number, before: Buffers = "pooled"): Promise<ReadReport> {
  const cold = process.memoryUsage.rss();
  await readWhole(read(before, warm), warm);
  probe.start();
  const began = performance.now();
  await readWhole(read(buffers, LARGE), LARGE);
  return { seconds: (performance.now() - began) / 1000, cold, client: probe.stop() };
}

async function readWhole(chunks: Chunks, size: number): Promise<void> {
  const check = new OctetsCheck();
  for await (const { data } of chunks) {
    check.add(data as Uint8Array);
    probe.sample();
  }
  check.finish(size);
}
