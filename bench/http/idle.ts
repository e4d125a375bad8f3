import { Agent } from "node:http";
import { connect } from "anywire";
import { listening } from "../child.js";
import { atMost, type Outcome } from "../figure.js";
import { textOf } from "../first.js";
import { begin } from "./raw.js";

const COUNT = 10_000;
const KIB = 1024;

/** What a legacy session costs that has no stream open. */
export async function idle(): Promise<Outcome> {
  await using server = await listening("anywire", "plain", "http://127.0.0.1:0/mcp");
  await using client = await connect(server.address, { era: "modern" });
  const held = async (): Promise<number> => Number(textOf(await client.callTool("held")));
  await sessions(server.address, 200);
  const before = await held();
  await sessions(server.address, COUNT);
  const each = ((await held()) - before) / COUNT / KIB;
  return {
    figures: [atMost(`http: resident memory of a session without a stream, of ${COUNT.toLocaleString("en-US")}`, each, 50, " KiB", 1)],
    notes: [],
  };
}

async function sessions(url: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  for (let made = 0; made < count; made += 8) await Promise.all(Array.from({ length: Math.min(8, count - made) }, () => begin(url, agent)));
  agent.destroy();
}
