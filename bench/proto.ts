import { performance } from "node:perf_hooks";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { connect, type McpClient } from "anywire";
import { messageCodec } from "anywire/schema";
import "anywire/typed";
import { child } from "./child.js";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import { type Contender, median, ratio, takeTurns } from "./rounds.js";
import { WORKERS } from "./sizes.js";
import { argumentsOf, messages } from "./typed-messages.js";

/** A typed tool on length-delimited stdio, called with messages, beside the same tool on newline stdio, called with JSON. */
export const proto: Bench = { name: "proto", run };

const sizes: readonly (readonly [name: string, rows: number])[] = [
  ["small", 0],
  ["large, 1,000 rows", 1000],
];

async function run(): Promise<Outcome> {
  const command = child("typed", "proto+stdio:");
  const delimited = await connect({ ...command, speaks: "proto+stdio" }, { era: "modern", jsonToo: false });
  const newline = await connect(child("typed", "stdio:"), { era: "modern" });
  const notes: string[] = [];
  try {
    // Loading the validator takes longer than all that is measured.
    await Promise.all([delimited.callTyped("search", messages, {}, {}).catch(() => {}), newline.callTool("search", argumentsOf(0))]);
    let least = 0;
    for (const [name, rows] of sizes) {
      const args = argumentsOf(rows);
      const bytes = messageCodec(messages.input).encode(args);
      const message = fromBinary(messages.input, bytes);
      notes.push(
        `arguments, ${name}: ${format(JSON.stringify(args).length)} bytes of JSON, ${format(toBinary(messages.input, message).length)} of protobuf`,
      );
      const workers = rows === 0 ? WORKERS : 4;
      const rated = await takeTurns(
        [
          contender("typed on length-delimited stdio", workers, () => delimited.callTyped("search", messages, message)),
          contender("JSON on newline stdio", workers, () => newline.callTool("search", args)),
          contender("typed, not validated by the client", workers, () =>
            delimited.callTyped("search", messages, message, { validate: false }),
          ),
          contender("JSON on length-delimited stdio", workers, () => delimited.callTool("search", args)),
        ],
        { rounds: 10, ms: 200, warmUpMs: 1500 },
      );
      for (const each of rated) {
        const rate = median(each.rates);
        notes.push(`${name}, ${workers} at a time, ${each.name}: ${format(rate)} calls a second, one every ${format(1e6 / rate)} µs`);
      }
      const count = rows === 0 ? 20_000 : 200;
      notes.push(
        `${name}, processor time of a call, client and server: typed ${await spent(delimited, count, workers, () => delimited.callTyped("search", messages, message))}`,
      );
      notes.push(
        `${name}, processor time of a call, client and server: JSON on newline stdio ${await spent(newline, count, workers, () => newline.callTool("search", args))}`,
      );
      const [ours, theirs] = rated;
      if (rows === 0 && ours !== undefined && theirs !== undefined) least = ratio(ours, theirs);
    }
    return { figures: [atLeast("typed calls on length-delimited stdio, over JSON on newline stdio", least, 1, "x")], notes };
  } finally {
    await delimited.close();
    await newline.close();
  }
}

/** What both processes spend on a call, which other processes on the machine change less than how long it takes. */
async function spent(client: McpClient, count: number, workers: number, call: () => Promise<unknown>): Promise<string> {
  const ofServer = async (): Promise<number> => {
    const [block] = (await client.callTool("spent")).content;
    return block?.type === "text" ? Number(block.text) : Number.NaN;
  };
  const ofClient = (): number => process.cpuUsage().user + process.cpuUsage().system;
  const [server, own] = [await ofServer(), ofClient()];
  await contender("", workers, call).run(count);
  const [client_, server_] = [(ofClient() - own) / count, ((await ofServer()) - server) / count];
  return `${format(client_ + server_, 1)} µs (${format(client_, 1)} and ${format(server_, 1)})`;
}

function contender(name: string, workers: number, call: () => Promise<unknown>): Contender {
  return {
    name,
    async run(count) {
      const began = performance.now();
      let left = count;
      const worker = async (): Promise<void> => {
        while (left-- > 0) await call();
      };
      await Promise.all(Array.from({ length: workers }, worker));
      return performance.now() - began;
    },
  };
}
