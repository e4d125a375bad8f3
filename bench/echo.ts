import { againstSdk, both, start, table } from "./contenders.js";
import { atLeast, type Bench, type Outcome } from "./figure.js";
import { takeTurns } from "./rounds.js";
import { WORKERS } from "./sizes.js";

/** Echo calls a second on stdio, beside the official SDK in both eras and beside bare pipes. */
export const echo: Bench = { name: "echo", run };

async function run(): Promise<Outcome> {
  const running = await Promise.all([...both, ["pipe", "modern"] as const].map(([make, era]) => start(make, era, "plain")));
  try {
    const options = { rounds: 20, ms: 150, warmUpMs: 1000 };
    const one = await takeTurns(
      running.map((each) => each.contender("one")),
      options,
    );
    const many = await takeTurns(
      running.map((each) => each.contender("many")),
      options,
    );
    return {
      figures: [
        atLeast("echo calls, one at a time, over the SDK's", againstSdk(one), 1.3, "x"),
        atLeast(`echo calls, ${WORKERS} at a time, over the SDK's`, againstSdk(many), 4, "x"),
      ],
      notes: [...table("one at a time", one), ...table(`${WORKERS} at a time`, many)],
    };
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
}
