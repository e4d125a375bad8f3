import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Hop } from "./chain.js";
import { canSpeak, chains, everyPair, otherEra, sameEra, sameWire } from "./chains.js";
import { examples } from "./examples.js";
import { generated } from "./generated.js";
import { page, pageText } from "./page.js";
import { realTools } from "./real-tools.js";
import { report } from "./rules.js";
import { runOver, verdict } from "./run.js";
import { scripts } from "./scripts.js";

/** The wide run of `npm run relay`: every chain, both eras. Gives the exit code. */
export async function wide(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hops: { type: "string" },
      era: { type: "string" },
      count: { type: "string", default: "160" },
      seed: { type: "string", default: "20260728" },
      minutes: { type: "string", default: "10" },
      examples: { type: "string" },
      bridge: { type: "boolean", default: false },
      wires: { type: "boolean", default: false },
      pairs: { type: "boolean", default: false },
      corpus: { type: "string" },
      page: { type: "boolean", default: false },
    },
  });
  if (values.page) {
    writeFileSync(page, pageText());
    return 0;
  }
  const all = verdict();
  const until = Date.now() + Number(values.minutes) * 60_000;
  const between = values.bridge ? "bridge" : "relay";
  const many = values.pairs ? everyPair : values.wires ? sameWire : chains;
  const chosen = values.hops === undefined ? many : [values.hops.split(",") as Hop[]];
  const real = values.corpus === undefined ? [] : realTools(values.corpus);
  let total = 0;
  let left = 0;
  for (const hops of chosen) {
    for (const eras of [...sameEra, ...otherEra]) {
      const name = eras.client === eras.server ? eras.client : `${eras.client}-${eras.server}`;
      // Between eras the wires make no difference: one relay tells.
      if (
        !canSpeak(hops, eras) ||
        (values.era === undefined ? name.includes("-") && (hops.join() !== "ws,ws" || values.examples !== undefined) : values.era !== name)
      )
        continue;
      if (Date.now() > until) {
        left++;
        continue;
      }
      const said =
        values.examples === undefined
          ? [...scripts(eras), ...real.map((script) => script(eras)), ...generated(eras, Number(values.seed), Number(values.count))]
          : examples(values.examples, eras.server);
      const before = all.unexplained.length;
      const messages = await runOver({ hops, eras, scripts: said, between }, all);
      total += messages;
      console.log(
        `${name} ${hops.join(" > ")}: ${messages} messages, ${all.unexplained.length - before} differences that the page does not list`,
      );
    }
  }
  console.log(
    `${total} messages, ${all.unexplained.length} differences that the page does not list${left > 0 ? `, ${left} chains left out for want of time` : ""}`,
  );
  if (all.unexplained.length > 0) console.log(report(all.unexplained));
  const whole = many === chains && values.hops === undefined && values.era === undefined && values.examples === undefined && left === 0;
  for (const rule of whole ? all.stale : []) console.log(`never happened, so take it out: ${rule.from}: ${rule.text}`);
  return all.unexplained.length > 0 || (whole && all.stale.length > 0) ? 1 : 0;
}
