import { type ChildProcessByStdio, spawn } from "node:child_process";
import { get } from "node:http";
import { performance } from "node:perf_hooks";
import type { Readable, Writable } from "node:stream";
import { connect, type McpClient } from "anywire";
import { child, listening } from "./child.js";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";
import { CHUNK } from "./sizes.js";

/** Bytes of one read. */
const UNIT = 64 * 1024 ** 2;
const ROUNDS = 16;
/** The same in lines of base64, one for each chunk. */
const LINES = (UNIT / CHUNK) * (4 * Math.ceil(CHUNK / 3) + 1);

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
  return await judged("http", 0.5, reading("http", client), plain);
}

/** JSON has no bytes, so the floor is what lines of base64 cost without Anywire. A pipe with bytes as they are is shown beside it. */
async function overStdio(): Promise<Outcome> {
  const [bytes, lines] = [piped("pipe"), piped("lines")];
  await using client = await connect(child("anywire", "plain"));
  try {
    return await judged(
      "stdio",
      0.8,
      reading("stdio", client),
      counted("lines of base64 alone", async () => {
        lines.stdin.write(`${UNIT}\n`);
        return decoded(upTo(LINES, lines.stdout));
      }),
      counted("a pipe alone", async () => {
        bytes.stdin.write(`${UNIT}\n`);
        return upTo(UNIT, bytes.stdout);
      }),
    );
  } finally {
    bytes.stdin.end();
    lines.stdin.end();
  }
}

function piped(form: "pipe" | "lines"): ChildProcessByStdio<Writable, Readable, null> {
  const { command, args } = child("bare-source", form);
  return spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** Our rate over that of the first other. */
async function judged(wire: string, least: number, ours: Contender, floor: Contender, ...beside: Contender[]): Promise<Outcome> {
  const rated = await takeTurns([ours, floor, ...beside], { rounds: ROUNDS, ms: 1, warmUpMs: 1500 });
  const [a, b] = rated as [Rated, Rated];
  const rate = (each: Rated): string =>
    `${each.name}: ${format((median(each.rates) * UNIT) / 1024 ** 2)} MiB a second${each === a ? "" : `; ours is ${format(ratio(a, each), 2)}x`}`;
  return { figures: [atLeast(`${wire}: 1 GiB, over ${floor.name}`, ratio(a, b), least, "x")], notes: rated.map(rate) };
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

/** What lines of base64 stand for, as anybody would read them. */
async function* decoded(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      begun.push(chunk.subarray(from, end));
      yield Buffer.from(Buffer.concat(begun).toString("latin1"), "base64");
      begun = [];
      from = end + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  }
}
