import type { Bench, Outcome } from "./figure.js";
import { idle } from "./http/idle.js";
import { rates } from "./http/rates.js";
import { resume } from "./http/resume.js";
import { stalled } from "./http/stalled.js";
import { readOver } from "./read.js";

/** The Streamable HTTP wire: rates beside the SDK and beside bare node:http, memory, resuming, a client that does not read. */
export const http: Bench = { name: "http", run };

async function run(): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const part of [rates, () => readOver("http", 64), stalled, resume, idle]) outcomes.push(await part());
  return { figures: outcomes.flatMap(({ figures }) => figures), notes: outcomes.flatMap(({ notes }) => notes) };
}
