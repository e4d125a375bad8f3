import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
const inside = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
const pages = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", ...inside("docs"), ...inside(".github/workflows")].filter(
  (path) => /\.(md|yml)$/.test(path),
);

it.each(pages)("%s names scripts that are there", (path) => {
  const text = readFileSync(join(root, path), "utf8");
  for (const [, name = ""] of text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g)) expect(Object.keys(scripts)).toContain(name);
});
