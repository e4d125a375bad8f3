import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

/** Packages whose types come with them, and which an install of this one brings along. */
const typed = ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-node", "ajv", "eventsource-parser"];
const root = resolve(import.meta.dirname, "../..");

/** Every package named in the declarations that a file leads to. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
    if (!name.startsWith(".")) packages.add(name);
    else for (const further of packagesOf(join(dirname(file), name.replace(/\.js$/, ".d.ts")), seen)) packages.add(further);
  }
  return packages;
}

const entries = Object.entries(manifest.exports).flatMap(([name, entry]) =>
  typeof entry === "string" ? [] : [[name, entry.types] as const],
);

it.each(entries)("the types of %s need nothing that is not installed with the package", (name, types) => {
  const optional = name === "./sdk" || name === "./oauth" ? Object.keys(manifest.peerDependencies) : [];
  const seen = new Set<string>();
  const foreign = [...packagesOf(join(root, types), seen)].filter(
    (named) => !named.startsWith("node:") && ![...typed, ...optional].some((known) => named === known || named.startsWith(`${known}/`)),
  );
  expect(foreign).toEqual([]);
  // Declarations of generated code are not published.
  expect([...seen].filter((file) => file.includes("/codec/gen/"))).toEqual([]);
});
