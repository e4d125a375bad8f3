// Runtimes from npm's own packages, each in a folder of its own below .cache, put there when it is first wanted.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../../.cache/runtimes/", import.meta.url));
const { platform, arch } = process;

/** Each package is the binary for this machine: nothing has to run while it is installed. */
const nodePackage = `node-${platform === "win32" ? "win" : platform}-${arch}`;
const bunPackage = `@oven/bun-${platform === "win32" ? "windows" : platform}-${arch === "arm64" ? "aarch64" : arch}`;
const denoPackage = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
const exe = platform === "win32" ? ".exe" : "";

export const runtimes = [
  { name: "Node 20", package: nodePackage, version: "20.20.2", binary: `bin/node${exe}`, flags: [] },
  { name: "Node 22", package: nodePackage, version: "22.23.3", binary: `bin/node${exe}`, flags: [] },
  { name: "Node 24", package: nodePackage, version: "24.21.0", binary: `bin/node${exe}`, flags: [] },
  { name: "Node 26", package: nodePackage, version: "26.10.0", binary: `bin/node${exe}`, flags: [] },
  { name: "Bun", package: bunPackage, version: "1.4.4", binary: `bin/bun${exe}`, flags: ["run"] },
  { name: "Deno", package: denoPackage, version: "2.9.6", binary: `deno${exe}`, flags: ["run", "--allow-all", "--no-lock", "--quiet"] },
];

/** The command of a runtime, or why it cannot be had. */
export function installed(runtime) {
  const folder = join(cache, `${runtime.name.toLowerCase().replace(" ", "-")}-${runtime.version}`);
  const binary = join(folder, "node_modules", runtime.package, runtime.binary);
  if (!existsSync(binary)) {
    process.stdout.write(`installing ${runtime.package} ${runtime.version}\n`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    // npm tells its scripts where the package is, and would install there again.
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));
    const args = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", `${runtime.package}@${runtime.version}`];
    try {
      execFileSync("npm", args, { cwd: folder, env, timeout: 300_000, stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      throw new Error(`npm cannot install ${runtime.package}: ${String(error.stderr).split("\n")[0]}`);
    }
  }
  return { command: binary, flags: runtime.flags };
}

/** What is known of a build, by its digest. */
export function remembered(digest) {
  const file = join(cache, "results.json");
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const results = kept.digest === digest ? kept.results : {};
  return {
    results,
    save() {
      mkdirSync(cache, { recursive: true });
      writeFileSync(file, JSON.stringify({ digest, results }, undefined, 1));
    },
  };
}
