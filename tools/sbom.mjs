// Prints the bill of materials of the package as CycloneDX: what it depends on when it runs, by the lock file.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { status, stdout } = spawnSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "library"], {
  cwd: new URL("..", import.meta.url),
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
  stdio: ["ignore", "pipe", "inherit"],
});
if (status !== 0) process.exit(1);
const bom = JSON.parse(stdout);
// `--omit dev` would leave out too what is used at run time and by a tool as well.
bom.components = bom.components.filter(({ properties = [] }) => !properties.some(({ name }) => name === "cdx:npm:package:development"));
const kept = new Set([bom.metadata.component, ...bom.components].map((component) => component["bom-ref"]));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
// npm names the package by its folder.
bom.metadata.component.name = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).name;
// Where a package was downloaded from is a matter of this machine; its hash is there.
for (const component of bom.components)
  component.externalReferences = (component.externalReferences ?? []).filter(({ type }) => type !== "distribution");
process.stdout.write(`${JSON.stringify(bom, undefined, 2)}\n`);
