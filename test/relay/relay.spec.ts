import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Eras, Hop } from "./chain.js";
import { canSpeak, otherEra, sameEra } from "./chains.js";
import { generated } from "./generated.js";
import { page, pageText } from "./page.js";
import { report } from "./rules.js";
import { runOver, verdict } from "./run.js";
import { scripts } from "./scripts.js";

/** Few chains that between them have every wire; `npm run relay` has many more. */
const chains: readonly (readonly [hops: readonly Hop[], eras: readonly Eras[]])[] = [
  [
    ["ws", "ws"],
    [...sameEra, ...otherEra],
  ],
  [["http", "stdio"], sameEra],
  [["stdio", "unary", "http"], sameEra],
  [["grpc", "tunnel"], sameEra],
  [["sse", "grpc"], sameEra],
  [["tcp", "tcp"], sameEra],
  [["connect", "unary"], sameEra],
  [["proto", "proto"], sameEra],
];

const all = verdict();

for (const [hops, pairs] of chains) {
  for (const eras of pairs.filter((one) => canSpeak(hops, one))) {
    it(`passes on what a ${eras.client} client and a ${eras.server} server say over ${hops.join(" > ")}`, { timeout: 60_000 }, async () => {
      const own = verdict();
      await runOver({ hops, eras, scripts: [...scripts(eras), ...generated(eras, 1, 16)] }, own);
      for (const [rule, times] of own.used) all.used.set(rule, (all.used.get(rule) ?? 0) + times);
      expect(report(own.unexplained)).toBe("");
    });
  }
}

it("lists nothing that does not happen: take out what was mended", () => {
  expect(all.stale.map(({ from, text }) => `${from}: ${text}`)).toEqual([]);
});

it("says so in docs/relay.md: run `npm run relay -- --page` if it does not", () => {
  expect(readFileSync(page, "utf8")).toBe(pageText());
});
