import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
// Inside the package, so that "anywire" means the package itself.
const folder = join(root, ".cache/snippets");

it("type-checks every TypeScript snippet of the README and the guides", async () => {
  const pages = ["README.md", "docs/recipes.md", ...(await readdir(join(root, "docs/guide"))).map((name) => `docs/guide/${name}`)];
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  let count = 0;
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    for (const [, snippet] of text.matchAll(/```ts\n(.*?)```/gs)) {
      // Interfaces are quoted from the source to be read; a snippet that runs has imports.
      if (!snippet?.includes("import ")) continue;
      await writeFile(join(folder, `${page.replaceAll(/\W/g, "-")}-${++count}.ts`), `${snippet}\nexport {};\n`);
    }
  }
  expect(count).toBeGreaterThan(8);
  const config = { extends: "../../tsconfig.test.json", compilerOptions: { noUnusedLocals: false }, include: ["*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});
