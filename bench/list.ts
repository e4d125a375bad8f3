import { againstSdk, both, start, table } from "./contenders.js";
import { atLeast, type Bench, type Outcome } from "./figure.js";
import { type Contender, takeTurns } from "./rounds.js";
import { TOOLS } from "./tools.js";

/** tools/list of many tools on stdio, beside the official SDK in both eras: at its fastest, with JSON Schemas, and as most use it, with zod. */
export const list: Bench = { name: "list", run };

async function run(): Promise<Outcome> {
  const running = await Promise.all([...both.map(([make, era]) => start(make, era, "list")), start("sdk", "modern", "list-zod")]);
  try {
    const contenders = running.map((each) => each.contender("list"));
    const [ours] = contenders as [Contender];
    const zod = contenders.pop() as Contender;
    const rated = await takeTurns(contenders, { rounds: 40, ms: 200, warmUpMs: 1500 });
    // A list with zod takes longer than a round, and its ratio is no close call.
    const beside = await takeTurns([ours, zod], { rounds: 5, ms: 200, warmUpMs: 1000 });
    return {
      figures: [atLeast(`tools/list of ${TOOLS} tools over the SDK's`, againstSdk(rated), 1.8, "x")],
      notes: [...table("lists", rated), ...table("lists", beside)],
    };
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
}
