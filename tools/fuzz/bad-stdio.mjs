// A server on stdio that answers with bad lines, and ends after so many. Arguments: a seed, a file that counts, lines of its life, lines a count.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { frameOf, random } from "./mutate.mjs";
import { saidTo } from "./servers.mjs";

const [seed, tally, life, tell] = process.argv.slice(2);
const rng = random(Number(seed) + process.pid);
let sent = 0;
for await (const line of createInterface({ input: process.stdin })) {
  let message = {};
  try {
    message = JSON.parse(line);
  } catch {
    // Not for us to say.
  }
  if (message.id === undefined || message.method === undefined) continue;
  for (const { message: said, good } of saidTo(message, rng)) {
    const bytes = good ? Buffer.from(JSON.stringify(said)) : frameOf(said, rng);
    process.stdout.write(Buffer.concat([bytes, Buffer.from("\n")]));
    if (++sent % Number(tell) === 0) appendFileSync(tally, ".");
  }
  if (sent > Number(life)) process.exit(rng.below(3));
}
