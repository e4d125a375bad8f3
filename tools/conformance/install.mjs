import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./processes.mjs";

const tools = fileURLToPath(new URL("..", import.meta.url));

/** Installs what a folder of tools pins, if that is not there yet, and gives the folder of one package. */
export async function installed(folder, name) {
  const at = join(tools, folder);
  const { dependencies } = await manifest(at);
  const home = join(at, "node_modules", name);
  const found = await manifest(home).catch(() => ({}));
  if (found.version !== dependencies[name]) {
    process.stdout.write(`installing ${name} ${dependencies[name]} in tools/${folder}\n`);
    // npm tells its scripts where the package is, and would install there again.
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));
    const { code, output } = await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: at, env, ms: 300_000 });
    if (code !== 0) throw new Error(`npm ci in tools/${folder} failed:\n${output}`);
  }
  return home;
}

async function manifest(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}
