// Measures src/ and fails above the bounds: type casts, import cycles at runtime, exported names that are declared twice.
// With --list it also prints where they are. Tests and generated code do not count.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";

const bounds = { castsPerThousandLines: 5, cycles: 0, namesTwice: 0 };

const src = fileURLToPath(new URL("../src/", import.meta.url));
const paths = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".spec.ts") && !path.startsWith("codec/gen/"))
  .sort();

const files = paths.map((path) => {
  const text = readFileSync(join(src, path), "utf8");
  const { program, module } = parseSync(path, text);
  return { path, lines: text.split("\n").length - 1, casts: castsIn(program, text), module };
});
const lines = files.reduce((sum, file) => sum + file.lines, 0);
const casts = files.flatMap(({ path, casts: own }) => own.map((at) => `${path}:${at}`));
const cycles = cyclesIn(new Map(files.map(({ path, module }) => [path, importsOf(path, module)])));
const twice = [...declarations()].filter(([, where]) => where.length > 1);

const figures = {
  castsPerThousandLines: Number(((1000 * casts.length) / lines).toFixed(1)),
  cycles: cycles.length,
  namesTwice: twice.length,
};
console.log(`${files.length} files, ${lines} lines, ${casts.length} casts`);
for (const [name, figure] of Object.entries(figures)) {
  const over = figure > bounds[name];
  if (over) process.exitCode = 1;
  console.log(`${name}: ${figure} (at most ${bounds[name]})${over ? ": too many" : ""}`);
}
for (const cycle of cycles) console.log(`cycle: ${cycle.join(", ")}`);
if (process.argv.includes("--list")) {
  for (const cast of casts) console.log(`cast: ${cast}`);
  for (const [name, where] of twice.sort()) console.log(`twice: ${name} in ${where.join(", ")}`);
}

/** The lines of all casts but `as const`, which changes no type into another. */
function castsIn(program, text) {
  const found = [];
  const add = (node) => {
    const { type, typeName } = node.typeAnnotation;
    if (type === "TSTypeReference" && typeName.name === "const") return;
    found.push(text.slice(0, node.start).split("\n").length);
  };
  new Visitor({ TSAsExpression: add, TSTypeAssertion: add }).visit(program);
  return found;
}

/** The files that a file loads at once: imports of types are gone by then, and dynamic ones come later. */
function importsOf(path, { staticImports, staticExports }) {
  const loading = (entries) => entries.length === 0 || entries.some(({ isType }) => !isType);
  const from = staticImports.filter(({ entries }) => loading(entries)).map(({ moduleRequest }) => moduleRequest.value);
  for (const { entries } of staticExports)
    for (const { moduleRequest, isType } of entries) if (moduleRequest !== null && !isType) from.push(moduleRequest.value);
  return from
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => normalize(join(dirname(path), specifier)).replace(/\.js$/, ".ts"));
}

/** The groups of files that load each other (Tarjan's strongly connected components). */
function cyclesIn(graph) {
  const order = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (path) => {
    order.set(path, order.size);
    low.set(path, order.get(path));
    stack.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(low.get(path), low.get(next)));
    }
    if (low.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || graph.get(path).includes(path)) found.push(group.sort());
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return found;
}

/** Where each exported name is declared: an index that passes it on does not count. */
function declarations() {
  const names = new Map();
  for (const { path, module } of files) {
    const imported = new Set(module.staticImports.flatMap(({ entries }) => entries.map(({ localName }) => localName.value)));
    const exported = module.staticExports.flatMap(({ entries }) => entries).filter(({ moduleRequest }) => moduleRequest === null);
    for (const name of new Set(exported.map(({ exportName, localName }) => (imported.has(localName.name) ? undefined : exportName.name))))
      if (name !== undefined && name !== null) names.set(name, [...(names.get(name) ?? []), path]);
  }
  return names;
}
