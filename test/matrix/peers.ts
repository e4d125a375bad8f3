import type { Address, Era } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import { type Caller, within } from "../identity/caller.js";
import type { Chain } from "../identity/chain.js";
import { type Row, rows } from "../identity/rows.js";
import { atOnce, crossed, question, secretOf, sideBySide, Tally } from "../identity/scenarios.js";
import { childServer } from "../interop/child-server.js";
import { programFile } from "../support/programs.js";

const legacyAsker = programFile(new URL("../identity/fixtures/asker.mjs", import.meta.url));
const modernAsker = programFile(new URL("fixtures/modern-asker.mjs", import.meta.url));
const bridgeProcess = programFile(new URL("bridge.mjs", import.meta.url));
const people = ["Adaqua", "Borvix"];
const schemes = { http: "http", sse: "sse+http", ws: "ws", grpc: "grpc", stdio: "stdio" } as const;

/**
 * Milliseconds after which a call counts as hung. A bridge lets one wait for its server for 30 seconds: 32 stateless questions at once
 * start as many processes.
 */
const WAIT_MS = 45_000;

interface ServerKind {
  readonly args: readonly string[];
  readonly on: "stdio" | "http";
  readonly era: Era;
}

/** Servers of the official SDK. The legacy ones on stdio name no call in what they ask. */
const servers = {
  "SDK v1, stdio": { args: [legacyAsker, "v1"], on: "stdio", era: "legacy" },
  "SDK v2, stdio": { args: [legacyAsker, "v2"], on: "stdio", era: "legacy" },
  "SDK v1, http": { args: [legacyAsker, "v1", "http"], on: "http", era: "legacy" },
  "SDK v2 modern, stdio": { args: [modernAsker], on: "stdio", era: "modern" },
  "SDK v2 modern, http": { args: [modernAsker, "http"], on: "http", era: "modern" },
} as const satisfies Readonly<Record<string, ServerKind>>;
export type ForeignServer = keyof typeof servers;
export const foreignServers = Object.keys(servers) as ForeignServer[];

/** Clients that know nothing of Anywire. */
export const foreignClients: readonly Row[] = rows;

interface Behind {
  readonly to: Address;
  /** Kills a server that listens, and starts it again in the same place. */
  readonly restart?: (() => Promise<void>) | undefined;
  close(): Promise<void>;
}

async function openServer({ args, on }: ServerKind): Promise<Behind> {
  if (on === "stdio") return { to: { command: process.execPath, args }, close: async () => {} };
  let child = await childServer(args);
  const { port } = child;
  return {
    to: `http://127.0.0.1:${port}/mcp`,
    async restart() {
      await child[Symbol.asyncDispose]();
      child = await childServer(args, port);
    },
    close: async () => child[Symbol.asyncDispose](),
  };
}

/** So many bridges between the client's wire and the server. */
async function openBridges(row: Row, server: ForeignServer, count: number): Promise<Chain & Pick<Behind, "restart">> {
  const behind = await openServer(servers[server]);
  const { restart } = behind;
  // Version 2 of the SDK speaks whatever it is asked in, and as a modern one it could not ask in the middle of a call.
  const dial = { era: servers[server].era };
  const opened: Bridge[] = [];
  const between = ["http", "grpc", "ws"];
  let to = behind.to;
  for (let at = 1; at < count; at++) {
    const made = await bridge({
      listen: [`${between[at % between.length]}://127.0.0.1:0`],
      to,
      ...(at === 1 && { dial }),
      onStderr: () => {},
      clientIdleMs: 5_000,
    });
    opened.unshift(made);
    to = made.listeners[0]?.address as string;
  }
  const close = async (): Promise<void> => {
    for (const made of opened) await made.close();
    await behind.close();
  };
  const front = { to, ...(count === 1 && { dial }) };
  const child = { command: process.execPath, args: [bridgeProcess, JSON.stringify({ listen: ["stdio:"], ...front })] };
  if (row.listen === "stdio") return { address: "stdio:", child, restart, close };
  const serve = row.by === "principal" ? { auth: { verify: (token: string) => ({ id: token }) } } : {};
  const made = await bridge({ listen: [`${schemes[row.listen]}://127.0.0.1:0`], ...front, serve, onStderr: () => {}, maxUpstreams: 256 });
  opened.unshift(made);
  return { address: String(made.listeners[0]?.address).replace("sse+", ""), child, restart, close };
}

export interface Peers {
  readonly row: Row;
  readonly server: ForeignServer;
  readonly bridges: number;
}

/**
 * Two clients at once, 32 questions at once, a server that is killed, and clients that leave and come back; gives a line for each thing
 * that went wrong.
 */
export async function runPeers({ row, server, bridges }: Peers): Promise<string[]> {
  const chain = await openBridges(row, server, bridges);
  const callers: Caller[] = [];
  const wrong: string[] = [];
  const open = async (person: string): Promise<void> => {
    callers.push(Object.assign(await row.open(chain, person), { waitMs: WAIT_MS }));
  };
  const leave = (): Promise<unknown> => Promise.all(callers.map((caller) => caller.close().catch(() => {})));
  const present = row.many ? people : people.slice(0, 1);
  try {
    for (const person of present) await open(person);
    const both = await sideBySide(callers, 7, 6);
    wrong.push(...both.wrong.filter((line) => !line.includes("nothing came") && !line.includes("came after")));
    const many = await Promise.all(callers.map((caller) => atOnce(caller, 32 / callers.length)));
    wrong.push(...many.flatMap((tally) => tally.wrong));
    wrong.push(...(chain.restart === undefined ? await childLost(callers) : await serverLost(callers, () => chain.restart?.())));
    wrong.push(...crossed(callers));
    await leave();
    callers.length = 0;
    for (const person of present) await open(person);
    wrong.push(...(await stillAsked(callers, 1)));
    wrong.push(...crossed(callers));
  } finally {
    await leave();
    await chain.close();
  }
  return wrong;
}

/** Kills the server's process under each client. The next calls find another one, and are answered. */
async function childLost(callers: readonly Caller[]): Promise<string[]> {
  for (const caller of callers) {
    const pid = Number(await within("pid", caller.call("pid", { secret: secretOf(caller) }), WAIT_MS));
    const open = caller.call("pause", { secret: secretOf(caller), ms: 1_000 }).then(String, String);
    process.kill(pid, "SIGKILL");
    await within("the call in flight", open, WAIT_MS);
  }
  return stillAsked(callers, 2);
}

/** Kills a server that listens under its clients, and starts it again. */
async function serverLost(callers: readonly Caller[], restart: () => Promise<void> | undefined): Promise<string[]> {
  const open = callers.map((caller) => caller.call("pause", { secret: secretOf(caller), ms: 1_000 }).then(String, String));
  await restart();
  await within("the calls in flight", Promise.all(open), WAIT_MS);
  return stillAsked(callers, 2);
}

/** Each client is asked and its answer taken, after so many tries: the first may meet the end of the old server. */
async function stillAsked(callers: readonly Caller[], tries: number): Promise<string[]> {
  const wrong: string[] = [];
  for (const caller of callers) {
    const tally = new Tally();
    for (let left = tries; left > 0 && tally.answered === 0; left--) await question(caller, "ask", tally);
    if (tally.answered === 0 || tally.hung > 0) wrong.push(...tally.wrong);
  }
  return wrong;
}
