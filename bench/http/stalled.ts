import { connect as connectTcp } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { connect, type Era, type McpClient } from "anywire";
import { listening } from "../child.js";
import { atMost, type Figure, format, type Outcome } from "../figure.js";
import { textOf } from "../first.js";
import { median } from "../rounds.js";
import { FLOOD, FLOOD_BYTES } from "../sizes.js";
import { begin, requestOf } from "./raw.js";

const MIB = 1024 ** 2;
/** Rounds of a neighbour alone and beside, and its calls in each. */
const ROUNDS = 11;
const CALLS = 1000;

/** 200 MB of notifications for a client that never reads: what the server holds, and what a neighbour feels. */
export async function stalled(): Promise<Outcome> {
  const figures: Figure[] = [];
  const notes: string[] = [];
  for (const era of ["modern", "legacy"] as const) {
    await using server = await listening("anywire", "plain", "http://127.0.0.1:0/mcp");
    await using client = await connect(server.address, { era: "modern" });
    // Warm, and with its memory at rest.
    for (let at = 0; at < 5; at++) await calls(client);
    const { held, made } = await holding(server.address, client, era);
    const most = (FLOOD * FLOOD_BYTES) / 1e6;
    figures.push(
      atMost(`http: memory above idle while ${most} MB wait for a client that does not read, ${era}`, held / MIB, 16, " MiB", 1),
    );
    notes.push(`http, ${era}: ${format((made * FLOOD_BYTES) / 1e6, 1)} of ${most} MB made for the client that does not read`);
    const { ratio, alone, beside } = await neighbour(server.address, client, era);
    figures.push(atMost(`http: p99 of a neighbour of such a client over its p99 alone, ${era}`, ratio, 2, "x", 2));
    notes.push(`http, ${era}: p99 of the neighbour ${format(alone, 2)} ms alone, ${format(beside, 2)} ms beside it`);
  }
  return { figures, notes };
}

interface Stalled {
  leave(): void;
}

/** Asks for the flood and reads nothing of it. */
async function stall(address: string, era: Era): Promise<Stalled> {
  const session = era === "legacy" ? await begin(address) : {};
  const socket = connectTcp(Number(new URL(address).port), "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  socket.write(requestOf("flood", era, session));
  return { leave: () => void socket.destroy() };
}

async function numberOf(client: McpClient, tool: string): Promise<number> {
  return Number(textOf(await client.callTool(tool)));
}

/** What is held when the server has made nothing more for a second. */
async function holding(address: string, client: McpClient, era: Era): Promise<{ held: number; made: number }> {
  const idle = await numberOf(client, "held");
  const { leave } = await stall(address, era);
  let made = -1;
  for (let still = 0; still < 10; await wait(100)) {
    const now = await numberOf(client, "made");
    still = now === made && now > 0 ? still + 1 : 0;
    made = now;
  }
  const held = (await numberOf(client, "held")) - idle;
  leave();
  return { held, made };
}

/** Rounds alone and beside a client that has just stalled take turns; the ratio is the median of the rounds. */
async function neighbour(address: string, client: McpClient, era: Era): Promise<{ ratio: number; alone: number; beside: number }> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await calls(client));
    const { leave } = await stall(address, era);
    beside.push(await calls(client));
    leave();
  }
  const ratio = median(beside.map((ms, at) => ms / (alone[at] ?? Number.NaN)));
  return { ratio, alone: median(alone), beside: median(beside) };
}

/** The p99 of some calls, in milliseconds. */
async function calls(client: McpClient): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < CALLS; at++) {
    const began = performance.now();
    await client.callTool("echo", { text: "hello" });
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(CALLS * 0.99)] as number;
}
