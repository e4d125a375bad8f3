import { both, start, table } from "../contenders.js";
import { atLeast, type Figure, type Outcome } from "../figure.js";
import { type Rated, ratio, takeTurns } from "../rounds.js";
import { WORKERS } from "../sizes.js";

/** Echo calls a second over Streamable HTTP, beside the official SDK in the same era and beside bare node:http. */
export async function rates(): Promise<Outcome> {
  const running = await Promise.all([...both, ["pipe", "modern"] as const].map(([make, era]) => start(make, era, "plain", "http")));
  try {
    const figures: Figure[] = [];
    const notes: string[] = [];
    for (const [work, how] of [
      ["one", "one at a time"],
      ["many", `${WORKERS} at a time`],
    ] as const) {
      const contenders = running.map((each) => each.contender(work));
      const rated = await takeTurns(contenders, { rounds: 20, ms: 150, warmUpMs: 4000 });
      const [modern, legacy, sdkModern, sdkLegacy, bare] = rated as [Rated, Rated, Rated, Rated, Rated];
      const add = (name: string, a: Rated, b: Rated, least: number): void =>
        void figures.push(atLeast(`http: echo calls, ${how}, ${name}`, ratio(a, b), least, "x"));
      add("modern, over the SDK's", modern, sdkModern, 5);
      add("legacy, over the SDK's", legacy, sdkLegacy, 5);
      add("modern, over node:http alone", modern, bare, 0.6);
      add("legacy, over node:http alone", legacy, bare, 0.6);
      notes.push(...table(`http, ${how}`, rated));
    }
    return { figures, notes };
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
}
