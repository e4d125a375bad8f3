import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "../../src/api/index.js";
import { type Bridge, type BridgeOptions, bridge } from "../../src/bridge/index.js";
import type { Chain, ListenWire } from "../identity/chain.js";
import { programFile } from "../support/programs.js";

/** A legacy server of the SDK on stdio that asks, samples, lists roots, logs and notifies. */
export const asker: Command = {
  command: process.execPath,
  args: [programFile(new URL("../identity/fixtures/asker.mjs", import.meta.url)), "v1"],
};

const fixture = (name: string, ...args: readonly string[]): Command => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`fixtures/${name}`, import.meta.url)), ...args],
});

/** A server that writes down what reaches it, and what it wrote down. */
export class Ledger {
  readonly #file = join(mkdtempSync(join(tmpdir(), "anywire-bridge-")), "ledger");
  readonly command: Command;

  constructor(...how: readonly string[]) {
    this.command = fixture("ledger.mjs", this.#file, ...how);
  }

  get lines(): string[] {
    return existsSync(this.#file) ? readFileSync(this.#file, "utf8").split("\n").filter(Boolean) : [];
  }

  /** The processes, in the order of their start. */
  get pids(): number[] {
    return this.lines.filter((line) => line.endsWith(" start")).map((line) => Number(line.split(" ")[0]));
  }

  /** What reached one process. */
  of(pid: number | undefined): string[] {
    return this.lines.filter((line) => line.startsWith(`${pid} `)).map((line) => line.slice(String(pid).length + 1));
  }

  count(what: string): number {
    return this.lines.filter((line) => line.endsWith(` ${what}`)).length;
  }
}

const schemes: Readonly<Record<Exclude<ListenWire, "stdio">, string>> = { http: "http", sse: "sse+http", ws: "ws", grpc: "grpc" };
/** Clients of which the credential is the name. */
const auth = { verify: (token: string) => ({ id: token }) };

export interface TestBridge extends Bridge {
  /** As the callers of the identity tests want it. */
  at(wire: ListenWire): Chain;
}

/** A bridge that listens on these wires. */
export async function openBridge(
  wires: readonly ListenWire[],
  options: Partial<BridgeOptions> & { readonly known?: boolean } = {},
): Promise<TestBridge> {
  const { known = false, ...given } = options;
  const listen = wires.map((wire) => `${schemes[wire as keyof typeof schemes]}://127.0.0.1:0`);
  const made = await bridge({ listen, to: asker, onStderr: () => {}, ...(known ? { serve: { auth } } : undefined), ...given });
  const at = (wire: ListenWire): Chain => ({
    // A client of SSE has no word for the wire in its URL.
    address: String(made.listeners[wires.indexOf(wire)]?.address).replace("sse+", ""),
    child: asker,
    close: () => made.close(),
  });
  return Object.assign(Object.create(made) as Bridge, {
    at,
    listeners: made.listeners,
    upstream: made.upstream,
    closed: made.closed,
    close: made.close,
    [Symbol.asyncDispose]: made.close,
  });
}
