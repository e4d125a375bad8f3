import { allowed } from "./allowed.js";
import type { Between, Eras, Hop } from "./chain.js";
import { Exchange } from "./exchange.js";
import { known } from "./known.js";
import { canSay } from "./raw/wires.js";
import { fits, Verdict } from "./rules.js";
import type { Script } from "./script.js";

/** One chain and what is said over it. */
export interface Run {
  readonly hops: readonly Hop[];
  readonly eras: Eras;
  readonly scripts: readonly Script[];
  readonly between?: Between | undefined;
}

/** Both tables: a loss that is known comes first, since a rule of the page may be wider. */
export const rules = [...known, ...allowed];

export function verdict(): Verdict {
  return new Verdict(rules);
}

/** Says all scripts over a chain; gives how many messages were compared. */
export async function runOver({ hops, eras, scripts, between }: Run, into: Verdict): Promise<number> {
  const exchange = await Exchange.open(hops, eras, (difference) => rules.some((rule) => fits(rule, difference)), between);
  try {
    for (const script of scripts) if (canSay(hops[0] as Hop, script)) await exchange.run(script);
    into.add(exchange.differences);
    return exchange.messages;
  } finally {
    await exchange.close();
  }
}
