import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Era } from "anywire";
import { format } from "./figure.js";
import type { Make, What, Wire } from "./pairs.js";
import { type Contender, median, type Rated, ratio } from "./rounds.js";
import type { Order } from "./runner.js";

/** A pair whose client runs in a child process. */
export interface Running {
  readonly name: string;
  contender(work: Order["work"]): Contender;
  close(): Promise<void>;
}

/** Ours first, by the era that `connect` chooses; then the SDK's in both eras. */
export const both: readonly (readonly [Make, Era])[] = [
  ["anywire", "modern"],
  ["anywire", "legacy"],
  ["sdk", "modern"],
  ["sdk", "legacy"],
];

export async function start(make: Make, era: Era, what: What, wire: Wire = "stdio"): Promise<Running> {
  // The SDK's legacy client over HTTP warns of every listener beyond some, and would be slowed by thousands of lines.
  const execArgv = make === "sdk" ? ["--no-warnings"] : [];
  const child = fork(fileURLToPath(new URL("./runner.js", import.meta.url)), [make, era, what, wire], { execArgv });
  const ended = once(child, "exit").then(() => {
    throw new Error(`the runner of ${make} ended`);
  });
  ended.catch(() => {});
  const answer = async (): Promise<unknown> => (await Promise.race([once(child, "message"), ended]))[0];
  const name = (await answer()) as string;
  return {
    name,
    contender: (work) => ({
      name,
      async run(times) {
        const order: Order = { work, times };
        child.send(order);
        return (await answer()) as number;
      },
    }),
    async close() {
      child.disconnect();
      await ended.catch(() => {});
    },
  };
}

/** Our default against the faster of the SDK's eras. */
export function againstSdk(rated: readonly Rated[]): number {
  const [ours, , modern, legacy] = rated as readonly [Rated, Rated, Rated, Rated];
  return Math.min(ratio(ours, modern), ratio(ours, legacy));
}

export function table(title: string, rated: readonly Rated[]): string[] {
  const [ours] = rated as readonly [Rated];
  return rated.map((each) => {
    const against = each === ours ? "" : `; the first is ${format(ratio(ours, each), 2)}x`;
    return `${title}: ${each.name.padEnd(28)} ${format(median(each.rates)).padStart(8)} a second${against}`;
  });
}
