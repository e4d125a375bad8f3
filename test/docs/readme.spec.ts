import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packedReadme } from "../../tools/pack/readme.mjs";
import { root } from "./blocks.js";

const readme = readFileSync(join(root, "README.md"), "utf8");

it("links only to files that are in the package, once it is packed", () => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }];
  const inside = new Set(files.map(({ path }) => path));
  const links = [...packedReadme(readme).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((link) => !/^https?:/.test(link) && !inside.has(link))).toEqual([]);
});

it("links to headings that are there", () => {
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-");
  const slugs = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => slug(heading));
  for (const [, anchor = ""] of readme.matchAll(/\]\(#([^)]+)\)/g)) expect(slugs).toContain(anchor);
});

it("begins with the two commands", () => {
  const [, first] = /```sh\n(.*?)```/s.exec(readme) ?? [];
  expect(first).toMatch(/^npm ci && npm start .*\nnpm ci && npm test .*\n$/);
});

it("has a picture that is current", () => {
  expect(() => execFileSync(process.execPath, [join(root, "tools/picture.mjs"), "--check"], { stdio: "pipe" })).not.toThrow();
});
