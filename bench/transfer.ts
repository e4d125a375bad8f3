import { spawn } from "node:child_process";
import { get } from "node:http";
import { performance } from "node:perf_hooks";
import { connect, type McpClient } from "anywire";
import { child, listening } from "./child.js";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";

/** Bytes of one read. */
const UNIT = 64 * 1024 ** 2;
const ROUNDS = 16;

/** 1 GiB between two Anywire ends, in reads of 64 MiB, beside the same bytes by the same way without Anywire. */
export const transfer: Bench = { name: "transfer", run };

async function run(): Promise<Outcome> {
  const http = await overHttp();
  const stdio = await overStdio();
  return { figures: [...http.figures, ...stdio.figures], notes: [...http.notes, ...stdio.notes] };
}

async function overHttp(): Promise<Outcome> {
  await using bare = await listening("bare-source", "http");
  await using server = await listening("anywire", "plain", "http://127.0.0.1:0/mcp");
  await using client = await connect(server.address, { era: "modern" });
  const plain = counted("node:http alone", () => bodyOf(`${bare.address}/${UNIT}`));
  return await judged("http", 0.5, reading("http", client), plain, "node:http alone");
}

async function overStdio(): Promise<Outcome> {
  const { command, args } = child("bare-source", "pipe");
  const bare = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await using client = await connect(child("anywire", "plain"));
  const plain = counted("a pipe alone", async () => {
    bare.stdin.write(`${UNIT}\n`);
    return upTo(UNIT, bare.stdout);
  });
  try {
    return await judged("stdio", 0.4, reading("stdio", client), plain, "a pipe alone");
  } finally {
    bare.stdin.end();
  }
}

async function judged(wire: string, least: number, ours: Contender, floor: Contender, what: string): Promise<Outcome> {
  const [a, b] = (await takeTurns([ours, floor], { rounds: ROUNDS, ms: 1, warmUpMs: 1500 })) as [Rated, Rated];
  const rate = ({ name, rates }: Rated): string => `${name}: ${format((median(rates) * UNIT) / 1024 ** 2)} MiB a second`;
  return { figures: [atLeast(`${wire}: 1 GiB, over ${what}`, ratio(a, b), least, "x")], notes: [rate(a), rate(b)] };
}

export function reading(name: string, client: McpClient, size: number = UNIT): Contender {
  return counted(
    name,
    async function* () {
      for await (const { data } of client.readChunks(`bench://octets/same/${size}`)) yield data as Uint8Array;
    },
    size,
  );
}

/** Reads to the end and counts. */
export function counted(
  name: string,
  open: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
  size: number = UNIT,
): Contender {
  return {
    name,
    async run(times) {
      const began = performance.now();
      for (let time = 0; time < times; time++) {
        let bytes = 0;
        for await (const chunk of await open()) bytes += chunk.byteLength;
        if (bytes !== size) throw new Error(`${name}: read ${bytes} bytes of ${size}`);
      }
      return performance.now() - began;
    },
  };
}

function bodyOf(url: string): Promise<AsyncIterable<Uint8Array>> {
  return new Promise((resolve, reject) => void get(url, resolve).once("error", reject));
}

/** The next bytes of a stream that goes on. */
async function* upTo(
  size: number,
  stream: AsyncIterable<Uint8Array> & { iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array> },
): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    yield chunk;
    left -= chunk.byteLength;
    if (left === 0) return;
  }
}
