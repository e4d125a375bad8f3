// What an install brings: the packages of the lock file that are no dev dependencies, installed in a folder of its own, and this one.
// Fails above the bounds. The files of this package are counted as they are in dist/; published ones are smaller.
import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bounds = { packages: 12, megabytes: 15 };

const root = fileURLToPath(new URL("../../", import.meta.url));
const npm = (cwd, ...args) => execFileSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });

const [own] = JSON.parse(npm(root, "pack", "--dry-run", "--json", "--ignore-scripts"));
const folder = mkdtempSync(join(tmpdir(), "anywire-size-"));
try {
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, name), join(folder, name));
  npm(folder, "ci", "--omit=dev", "--omit=peer", "--ignore-scripts", "--prefer-offline", "--silent");
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const installed = Object.keys(packages)
    .filter((path) => packages[path].dev !== true && packages[path].link !== true)
    .map((path) => [path.replace(/^node_modules\//, ""), bytesOf(join(folder, path))]);
  const sizes = [["anywire", own.unpackedSize], ...installed];
  sizes.sort(([, one], [, other]) => other - one);
  for (const [name, bytes] of sizes) console.log(`${megabytes(bytes).padStart(6)} MB  ${name}`);
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  console.log(`${sizes.length} packages (at most ${bounds.packages}), ${megabytes(all)} MB (at most ${bounds.megabytes})`);
  if (sizes.length > bounds.packages || all > bounds.megabytes * 1e6) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Without packages that are nested in it: they are counted by themselves. */
function bytesOf(path) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + (name === "node_modules" ? 0 : bytesOf(join(path, name))), 0);
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(2);
}
