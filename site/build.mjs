// Builds the site: the pages of the repository, and an API reference from the types of every entry point.
// `npm run api` makes the reference alone, in .cache/site/api. Needs no network once site/node_modules is there.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = dirname(dirname(`${here}x`));
const staged = join(root, ".cache/site");
const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "RELEASING.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  "LICENSE",
  "docs",
  "examples/README.md",
  "proto/mcp/v1/mcp.proto",
];

if (!existsSync(join(here, "node_modules"))) run("npm", ["ci", "--ignore-scripts"], here);
rmSync(staged, { recursive: true, force: true });
for (const page of pages) {
  mkdirSync(dirname(join(staged, page)), { recursive: true });
  cpSync(join(root, page), join(staged, page), { recursive: true, filter: (path) => !path.includes(".vitepress") });
}
// Badges need a network.
const readme = join(staged, "README.md");
writeFileSync(readme, readFileSync(readme, "utf8").replace(/^.*img\.shields\.io.*$/m, ""));
api();
if (!process.argv.includes("--api")) run(join(here, "node_modules/.bin/vitepress"), ["build", here], root);

/** The reference in Markdown, a module for each entry point. */
function api() {
  const { exports: entries } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entryPoints = Object.values(entries).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
  const options = {
    entryPoints,
    plugin: [join(here, "node_modules/typedoc-plugin-markdown/dist/index.js")],
    out: join(staged, "api"),
    tsconfig: join(here, "tsconfig.json"),
    name: "API",
    readme: "none",
    entryFileName: "index.md",
    hidePageHeader: true,
    excludeExternals: true,
    disableSources: true,
    validation: { notExported: false },
    router: "module",
    groupOrder: ["Functions", "Classes", "*"],
    parametersFormat: "table",
    propertiesFormat: "table",
    interfacePropertiesFormat: "table",
    logLevel: "Warn",
  };
  writeFileSync(join(staged, "typedoc.json"), JSON.stringify(options));
  run(join(here, "node_modules/.bin/typedoc"), ["--options", join(staged, "typedoc.json")], root);
  // A module is called by the name that it is imported by.
  const named = (name) => (name === "api" ? "anywire" : `anywire/${name}`);
  for (const file of readdirSync(options.out, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(join(options.out, file), "utf8")
      .replace(/^# (?!API$)(.+)$/m, (_, name) => `# ${named(name.replaceAll("\\", ""))}`)
      .replace(/^(\[API\]\([^)]+\) \/ )(\S+)$/m, (_, before, name) => before + named(name))
      .replaceAll(/^- \[([\w/]+)\]\(([\w/]+\.md)\)$/gm, (_, name, link) => `- [${named(name)}](${link})`);
    writeFileSync(join(options.out, file), text);
  }
}

function run(command, words, cwd) {
  const { status } = spawnSync(command, words, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
