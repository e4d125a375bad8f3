import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Hop } from "./chain.js";
import { generated } from "./generated.js";
import { page, pageText } from "./page.js";
import { report } from "./rules.js";
import { runOver, verdict } from "./run.js";
import { scripts } from "./scripts.js";

/** Few chains that between them have every wire, at the front, between and behind; `npm run relay` has all. */
const chains: readonly (readonly Hop[])[] = [
  ["ws", "ws"],
  ["http", "stdio"],
  ["stdio", "unary", "http"],
  ["tunnel", "grpc", "sse"],
];

const all = verdict();

for (const hops of chains) {
  for (const era of ["legacy", "modern"] as const) {
    const spoken = hops.map((hop): Hop => (hop === "sse" && era === "modern" ? "ws" : hop));
    it(`passes on what ${era} peers say over ${spoken.join(" > ")}`, { timeout: 60_000 }, async () => {
      const own = verdict();
      await runOver({ hops: spoken, eras: { client: era, server: era }, scripts: [...scripts(era), ...generated(era, 1, 40)] }, own);
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
