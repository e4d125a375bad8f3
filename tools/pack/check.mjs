// Packs the package as it is published and looks at it from outside: publint and attw, its size, what a production install brings,
// and whether each entry point and the command load there, and a browser's bundle can be made of it. Builds dist/ anew, so nothing else may use it meanwhile.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MOST_BYTES = 2_000_000;
const MOST_PACKAGES = 12;

const root = fileURLToPath(new URL("../../", import.meta.url));
const { exports: entries, name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "anywire-package-"));
try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", folder]));
  const file = join(folder, packed.filename);
  run(join(root, "node_modules/.bin/publint"), ["run", "--strict", file]);
  // The package is ESM only: CommonJS is not looked at.
  run(join(root, "node_modules/.bin/attw"), ["--profile", "esm-only", "--format", "ascii", file]);
  atMost("bytes unpacked", packed.unpackedSize, MOST_BYTES);

  writeFileSync(join(folder, "package.json"), "{}");
  run("npm", ["install", "--omit=dev", "--no-audit", "--no-fund", file], folder);
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  atMost("packages in a production install", Object.keys(packages).filter((path) => path !== "").length, MOST_PACKAGES);

  // Those that adapt the official SDK need it to load.
  const alone = Object.keys(entries).filter((path) => !/sdk|oauth|package\.json/.test(path));
  const load = alone.map((path) => `await import(${JSON.stringify(join(name, path))});`).join("\n");
  run("node", ["--input-type=module", "--eval", load], folder);
  // esbuild knows no module of Node in a page, and fails where one is imported.
  const page = { contents: `export * from "${name}/browser";`, resolveDir: folder };
  await build({ stdin: page, bundle: true, write: false, logLevel: "error" });
  const said = run(join(folder, "node_modules/.bin/anywire"), ["--version"], folder);
  if (!said.includes(version)) throw new Error(`anywire --version says ${said}`);
  process.stdout.write(
    `publint and attw find nothing; ${alone.length} entry points and the command load, anywire/browser can be bundled\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(command, args, cwd = root) {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    process.stderr.write(`${error.stdout}${error.stderr}`);
    throw new Error(`${command} ${args.join(" ")} failed`, { cause: error });
  }
}

function atMost(what, found, most) {
  process.stdout.write(`${found.toLocaleString("en")} ${what}, at most ${most.toLocaleString("en")}\n`);
  if (found > most) throw new Error(`too many ${what}`);
}
