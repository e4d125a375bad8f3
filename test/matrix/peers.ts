import { fileURLToPath } from "node:url";
import type { Address } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import { type Caller, within } from "../identity/caller.js";
import type { Chain } from "../identity/chain.js";
import { type Row, rows } from "../identity/rows.js";
import { atOnce, crossed, question, secretOf, sideBySide, Tally } from "../identity/scenarios.js";
import { childServer } from "../interop/child-server.js";

const asker = fileURLToPath(new URL("../identity/fixtures/asker.mjs", import.meta.url));
const bridgeProcess = fileURLToPath(new URL("bridge.mjs", import.meta.url));
const people = ["Adaqua", "Borvix"];
const schemes = { http: "http", sse: "sse+http", ws: "ws", grpc: "grpc", stdio: "stdio" } as const;

/** Servers of the official SDK. On stdio they name no call in what they ask. */
export const foreignServers = ["SDK v1, stdio", "SDK v2, stdio", "SDK v1, http"] as const;
/** Version 2 of the SDK speaks whatever it is asked in; as a modern one it could not ask in the middle of a call. */
const dial = { era: "legacy" } as const;
export type ForeignServer = (typeof foreignServers)[number];

/** Clients that know nothing of Anywire. */
export const foreignClients: readonly Row[] = rows;

interface Behind {
  readonly to: Address;
  close(): Promise<void>;
}

async function openServer(server: ForeignServer): Promise<Behind> {
  const [version, wire] = server.replace("SDK ", "").split(", ") as [string, string];
  if (wire === "stdio") return { to: { command: process.execPath, args: [asker, version] }, close: async () => {} };
  const child = await childServer([asker, version, "http"]);
  return { to: `http://127.0.0.1:${child.port}/mcp`, close: async () => child[Symbol.asyncDispose]() };
}

/** So many bridges between the client's wire and the server. */
async function openBridges(row: Row, server: ForeignServer, count: number): Promise<Chain> {
  const behind = await openServer(server);
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
  if (row.listen === "stdio") return { address: "stdio:", child, close };
  const serve = row.by === "principal" ? { auth: { verify: (token: string) => ({ id: token }) } } : {};
  const made = await bridge({ listen: [`${schemes[row.listen]}://127.0.0.1:0`], ...front, serve, onStderr: () => {}, maxUpstreams: 256 });
  opened.unshift(made);
  return { address: String(made.listeners[0]?.address).replace("sse+", ""), child, close };
}

export interface Peers {
  readonly row: Row;
  readonly server: ForeignServer;
  readonly bridges: number;
}

/** Two clients at once, 32 questions at once, and a server that is killed; gives a line for each thing that went wrong. */
export async function runPeers({ row, server, bridges }: Peers): Promise<string[]> {
  const chain = await openBridges(row, server, bridges);
  const callers: Caller[] = [];
  const wrong: string[] = [];
  try {
    for (const person of row.many ? people : people.slice(0, 1)) callers.push(await row.open(chain, person));
    const both = await sideBySide(callers, 7, 6);
    wrong.push(...both.wrong.filter((line) => !line.includes("nothing came") && !line.includes("came after")));
    const many = await Promise.all(callers.map((caller) => atOnce(caller, 32 / callers.length)));
    wrong.push(...many.flatMap((tally) => tally.wrong));
    wrong.push(...crossed(callers));
    if (server.endsWith("stdio")) wrong.push(...(await reconnects(callers)));
  } finally {
    await Promise.all(callers.map((caller) => caller.close().catch(() => {})));
    await chain.close();
  }
  return wrong;
}

/** Kills the server's process under each client. The next calls find another one, and are answered. */
async function reconnects(callers: readonly Caller[]): Promise<string[]> {
  for (const caller of callers) {
    const pid = Number(await within("pid", caller.call("pid", { secret: secretOf(caller) })));
    const open = caller.call("pause", { secret: secretOf(caller), ms: 5_000 }).then(String, String);
    process.kill(pid, "SIGKILL");
    await within("the call in flight", open);
    const tally = new Tally();
    await question(caller, "ask", tally);
    // The first may meet the end of the old process.
    if (tally.answered === 0) await question(caller, "ask", tally);
    if (tally.answered === 0) return tally.wrong;
  }
  return [];
}
