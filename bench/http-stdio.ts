import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { connect, type McpClient } from "anywire";
import { child, listening } from "./child.js";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import { textOf } from "./first.js";
import type { Peak } from "./memory.js";
import { OctetsCheck } from "./octets.js";
import { type Contender, median, ratio, takeTurns } from "./rounds.js";
import { LARGE, WARM, WORKERS } from "./sizes.js";
import { reading as readingOf } from "./transfer.js";

/** A server as a child, on three wires: Streamable HTTP on its pipes, lines on its pipes, Streamable HTTP on a Unix socket. */
export const httpStdio: Bench = { name: "http-stdio", run };

interface Opened {
  readonly client: McpClient;
  /** Ends client and server. */
  close(): Promise<void>;
}

interface Way {
  readonly name: string;
  open(): Promise<Opened>;
}

const ways: readonly Way[] = [
  { name: "http+stdio", open: () => piped({ ...child("anywire", "plain", "http+stdio:"), speaks: "http+stdio" }) },
  { name: "stdio", open: () => piped(child("anywire", "plain")) },
  { name: "http+unix", open: onSocket },
];

async function piped(command: Parameters<typeof connect>[0]): Promise<Opened> {
  const client = await connect(command, { era: "modern" });
  return { client, close: () => client.close() };
}

async function onSocket(): Promise<Opened> {
  const server = await listening("anywire", "plain", `http+unix:${join(tmpdir(), `${randomUUID()}.sock`)}`);
  const client = await connect(server.address, { era: "modern" });
  return {
    client,
    async close() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const STARTS = 7;
const CANCELS = 50;
/** Large reads of each way, in turn: other work on the machine disturbs single ones. */
const READS = 7;
/** Large reads before them. The rate of a way still grows by half from its first to its fourth. */
const FIRST_READS = 3;
const MIB = 1024 ** 2;

async function run(): Promise<Outcome> {
  const notes: string[] = [];
  const note = (what: string, values: readonly string[]): void =>
    void notes.push(`${what}: ${ways.map(({ name }, at) => `${name} ${values[at]}`).join(", ")}`);
  const starts = await each(startUp);
  note(
    `start-up to the first answer, median of ${STARTS}`,
    starts.map(({ start }) => `${format(start)} ms`),
  );
  note(
    "end of the client to the end of the server, nothing open",
    starts.map(({ end }) => `${format(end)} ms`),
  );
  const opened = await each(({ open }) => open());
  try {
    const rates = async (workers: number) =>
      takeTurns(
        ways.map((way, at) => echoes(way.name, opened[at] as Opened, workers)),
        { rounds: 12, ms: 150, warmUpMs: 1000 },
      );
    const one = await rates(1);
    const many = await rates(WORKERS);
    const shown = (rated: typeof one): string[] => rated.map((way) => `${format(median(way.rates))} a second`);
    note("echo, one at a time", shown(one));
    note(`echo, ${WORKERS} at a time`, shown(many));
    const cancels = await eachOf(opened, cancelling);
    note(
      `cancel until the handler knows, median of ${CANCELS}`,
      cancels.map((ms) => `${format(ms, 2)} ms`),
    );
    const ahead = await eachOf(opened, aheadOf);
    note(
      "bytes that a server makes ahead of a reader that has stopped",
      ahead.map((bytes) => `${format(bytes / MIB, 1)} MiB`),
    );
    const rounds: number[][] = [];
    for (let round = 0; round < FIRST_READS; round++) await eachOf(opened, reading);
    for (let round = 0; round < READS; round++) rounds.push(await eachOf(opened, reading));
    note(
      `1 GiB, median of ${READS}`,
      opened.map((_, at) => `${format(LARGE / MIB / (median(rounds.map((round) => round[at] as number)) / 1000))} MiB/s`),
    );
    const peaks = await eachOf(opened, memory);
    note(
      "memory of the server at rest and the most during 1 GiB",
      peaks.map(({ idle, rss }) => `${format(idle / MIB)} and ${format(rss / MIB)} MiB`),
    );
    const ratios = rounds.map(([http, lines]) => (lines ?? 0) / (http ?? 1));
    return {
      figures: [atLeast("1 GiB over http+stdio:, over newline stdio", median(ratios), 2, "x")],
      notes: [...notes, `echo over newline stdio's: one at a time ${times(one)}, ${WORKERS} at a time ${times(many)}`],
    };
  } finally {
    for (const { close } of opened) await close();
  }
}

function times(rated: Parameters<typeof ratio>[0][]): string {
  const [http, lines] = rated;
  return http === undefined || lines === undefined ? "" : `${format(ratio(http, lines), 2)}x`;
}

async function each<T>(measure: (way: Way) => Promise<T>): Promise<T[]> {
  return eachOf(ways, measure);
}

/** One after the other: they must not disturb each other. */
async function eachOf<In, Out>(list: readonly In[], measure: (each: In) => Promise<Out>): Promise<Out[]> {
  const all: Out[] = [];
  for (const item of list) all.push(await measure(item));
  return all;
}

async function startUp({ open }: Way): Promise<{ start: number; end: number }> {
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let round = 0; round < STARTS; round++) {
    const began = performance.now();
    const { client, close } = await open();
    await client.callTool("echo", { text: "there" });
    starts.push(performance.now() - began);
    const ending = performance.now();
    await close();
    ends.push(performance.now() - ending);
  }
  return { start: median(starts), end: median(ends) };
}

function echoes(name: string, { client }: Opened, workers: number): Contender {
  return {
    name,
    async run(count) {
      const began = performance.now();
      let left = count;
      const worker = async (): Promise<void> => {
        while (left-- > 0) await client.callTool("echo", { text: `hello ${left}` });
      };
      await Promise.all(Array.from({ length: workers }, worker));
      return performance.now() - began;
    },
  };
}

/** Both processes have the clock of the machine. */
async function cancelling({ client }: Opened): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < CANCELS; round++) {
    const leave = new AbortController();
    const call = client.callTool("hang", {}, { signal: leave.signal }).catch(() => {});
    await client.callTool("echo", { text: "it has begun" });
    const before = textOf(await client.callTool("left"));
    const left = performance.timeOrigin + performance.now();
    leave.abort();
    await call;
    let seen = before;
    while (seen === before) seen = textOf(await client.callTool("left"));
    all.push(Number(seen) - left);
  }
  return median(all);
}

async function aheadOf({ client }: Opened): Promise<number> {
  let read = 0;
  for await (const { data } of client.readChunks(`bench://octets/wide/${LARGE}`)) {
    read += data.length;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    break;
  }
  return Number(textOf(await client.callTool("produced"))) - read;
}

/** Milliseconds of a read from a source that costs nothing, so that only the wire is measured. */
async function reading({ client }: Opened): Promise<number> {
  const contender = readingOf("", client, LARGE);
  await readingOf("", client, WARM).run(1);
  return contender.run(1);
}

/** A read of its own: a server that watches its memory takes twice as long. */
async function memory({ client }: Opened): Promise<Peak> {
  await client.callTool("watch-memory");
  await whole(client, LARGE);
  return JSON.parse(textOf(await client.callTool("memory"))) as Peak;
}

async function whole(client: McpClient, size: number): Promise<void> {
  const check = new OctetsCheck();
  for await (const { data } of client.readChunks(`bench://octets/wide/${size}`)) check.add(data as Uint8Array);
  check.finish(size);
}
