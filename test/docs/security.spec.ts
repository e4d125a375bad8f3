import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { wrongIn } from "./shown.js";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/security.md"), "utf8");
const rows = [...page.matchAll(/^\| (\d+) \| (.+) \| (.+) \| (.+) \|$/gm)];

describe("docs/security.md", () => {
  it("has every row once, in order", () => {
    expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  });

  it("names tests that are there, or says that there is none yet", () => {
    for (const [, number, , , shown = ""] of rows) expect([number, wrongIn(shown)]).toEqual([number, []]);
    // The rest of the page too.
    for (const [, path] of page.matchAll(/`((?:src|test)\/[^`]+\.ts)`/g))
      expect([path, existsSync(join(root, path as string))]).toEqual([path, true]);
  });
});

it("npm run sbom lists what the package needs to run, and no more", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "tools/sbom.mjs")], { maxBuffer: 2 ** 26 });
  const bom = JSON.parse(stdout) as {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: { name: string; hashes: unknown[] }[];
  };
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    string,
    Record<string, string>
  >;
  expect([bom.bomFormat, bom.metadata.component.name]).toEqual(["CycloneDX", "anywire"]);
  const names = bom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies ?? {})));
  expect(names.filter((name) => Object.hasOwn(devDependencies ?? {}, name))).toEqual([]);
  expect(bom.components.every(({ hashes }) => hashes.length > 0)).toBe(true);
  expect(stdout).not.toContain("registry");
});
