import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connect, type Era } from "anywire";
import { child } from "./child.js";
import type { Bench, Figure, Outcome } from "./figure.js";
import { BURST } from "./sizes.js";

/** Calls for each pair: what a race loses, it loses in some of them. */
const CALLS = 200;

/** Progress notifications sent in a burst before a result: how many arrive, in order, before it. */
export const burst: Bench = { name: "burst", run };

async function run(): Promise<Outcome> {
  const figures: Figure[] = [];
  for (const server of ["anywire", "sdk"] as const)
    for (const era of ["modern", "legacy"] as const) figures.push(figure(server, await ours(server, era)));
  const theirs = (await sdk()).fewest;
  return { figures, notes: [`the SDK's own client on its own server gets ${theirs}/${BURST}`] };
}

interface Seen {
  readonly version: string;
  /** The worst of all calls. */
  readonly fewest: number;
}

function figure(server: "anywire" | "sdk", { version, fewest }: Seen): Figure {
  const name = `progress before the result, our client on ${server === "sdk" ? "an SDK v2" : "our"} server, ${version}`;
  return { name, value: `${fewest}/${BURST}`, target: `${BURST}/${BURST}`, pass: fewest === BURST };
}

async function ours(server: "anywire" | "sdk", era: Era): Promise<Seen> {
  await using client = await connect(child(server, "plain"), { era });
  const fewest = await worst(async (onProgress) => void (await client.callTool("burst", {}, { onProgress })));
  return { version: client.server.version, fewest };
}

async function sdk(): Promise<Seen> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ ...child("sdk", "plain"), stderr: "inherit" }));
  try {
    const fewest = await worst(async (onprogress) => void (await client.callTool({ name: "burst", arguments: {} }, { onprogress })));
    return { version: client.getNegotiatedProtocolVersion() ?? "", fewest };
  } finally {
    await client.close();
  }
}

type Call = (onProgress: (progress: { readonly progress: number }) => void) => Promise<void>;

/** The fewest notifications of any call that came in order and before its result. */
async function worst(call: Call): Promise<number> {
  let fewest = BURST;
  for (let at = 0; at < CALLS; at++) {
    let seen = 0;
    let ended = false;
    await call(({ progress }) => {
      if (!ended && progress === seen + 1) seen++;
    });
    ended = true;
    fewest = Math.min(fewest, seen);
  }
  return fewest;
}
