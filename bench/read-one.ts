/** Reads the large resource once, in the mode that the argument names, and prints a ReadReport. */
import { performance } from "node:perf_hooks";
import { connect, createServer, type McpClient, serve } from "anywire";
import { child, listening } from "./child.js";
import { textOf } from "./first.js";
import { memoryProbe, type Peak } from "./memory.js";
import { OctetsCheck, octets } from "./octets.js";
import type { ReadMode, ReadReport } from "./read.js";
import { CHUNK, LARGE } from "./sizes.js";

const probe = memoryProbe();
const modes: Readonly<Record<ReadMode, () => Promise<ReadReport>>> = { memory: onMemory, stdio: onStdio, http: onHttp, alone };
process.stdout.write(JSON.stringify(await modes[process.argv[2] as ReadMode]()));

async function onMemory(): Promise<ReadReport> {
  const server = createServer({ name: "bench", version: "1.0.0" }).resourceTemplate(
    { uriTemplate: "bench://octets/{size}", name: "octets" },
    (_uri, { variables }) => ({ size: Number(variables["size"]), data: octets(Number(variables["size"]), probe.sample) }),
  );
  await using _listener = await serve(server, "memory:bench-read");
  await using client = await connect("memory:bench-read");
  return await readLarge(reader(client));
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

/** From a server in a process of its own. */
async function readAcross(client: McpClient): Promise<ReadReport> {
  await readWhole(reader(client), CHUNK);
  await client.callTool("watch-memory");
  const report = await readLarge(reader(client));
  return { ...report, server: JSON.parse(textOf(await client.callTool("memory"))) as Peak };
}

function alone(): Promise<ReadReport> {
  return readLarge(async function* (size) {
    for await (const data of octets(size, probe.sample)) yield { data };
  });
}

type Read = (size: number) => AsyncIterable<{ readonly data: string | Uint8Array }>;

function reader(client: McpClient): Read {
  return (size) => client.readChunks(`bench://octets/${size}`);
}

/** Idle is what is there after a small read. */
async function readLarge(read: Read): Promise<ReadReport> {
  await readWhole(read, CHUNK);
  probe.start();
  const began = performance.now();
  await readWhole(read, LARGE);
  return { seconds: (performance.now() - began) / 1000, client: probe.stop() };
}

async function readWhole(read: Read, size: number): Promise<void> {
  const check = new OctetsCheck();
  for await (const { data } of read(size)) {
    check.add(data as Uint8Array);
    probe.sample();
  }
  if (check.total !== size || check.marks !== size / CHUNK) throw new Error(`read ${check.total} octets of ${size}, ${check.marks} marks`);
}
