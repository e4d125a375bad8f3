import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { wrongIn } from "./shown.js";

it("docs/fault-matrix.md names tests that are there, for every row", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/fault-matrix.md"), "utf8");
  const rows = [...page.matchAll(/^\| (.+) \| (.+) \| (.+) \| (.*) \|$/gm)].slice(1);
  expect(rows).toHaveLength(21);
  for (const [, injected, , shown = ""] of rows) expect([injected, wrongIn(shown)]).toEqual([injected, []]);
});
