import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { blocks, root } from "./blocks.js";

// Inside the package, so that "anywire" means the package itself.
const folder = join(root, ".cache/snippets");
const runnable = blocks.filter(({ notRun }) => notRun === undefined);
const of = (...languages: string[]): typeof runnable => runnable.filter(({ language }) => languages.includes(language));

it("type-checks every TypeScript snippet", async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const snippets = of("ts", "js");
  for (const { page, line, text } of snippets)
    await writeFile(join(folder, `${page.replaceAll(/\W/g, "-")}-${line}.ts`), `${text}\nexport {};\n`);
  expect(snippets.length).toBeGreaterThan(40);
  const config = { extends: "../../tsconfig.test.json", compilerOptions: { noUnusedLocals: false }, include: ["*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
}, 120_000);

it.each(of("json"))("$page:$line is JSON", ({ text }) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

it("runs every block, or says why not", () => {
  const checked = ["ts", "js", "json", "sh", "console"];
  const commands = /^\s*(npx|npm|node|anywire|curl|docker|kubectl) \S/m;
  const unexplained = runnable
    .filter(({ language, text }) => (language === "" ? commands.test(text) && !/<[a-z]+>/.test(text) : !checked.includes(language)))
    .map(({ page, line }) => `${page}:${line}`);
  expect(unexplained).toEqual([]);
});
