// Checks that every export of every entry point has a comment in front of its declaration, which is what the API reference shows.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports: entries } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const parsed = new Map();
const missing = new Map();
let count = 0;

for (const [entry, { types }] of Object.entries(entries)) {
  if (types === undefined) continue;
  const index = join(root, types.replace(/^\.\/dist/, "src").replace(/\.d\.ts$/, ".ts"));
  for (const name of exportsOf(index)) {
    count++;
    const { file, documented } = declarationOf(index, name);
    if (!documented) missing.set(`${file.slice(root.length)}: ${name}`, join("anywire", entry));
  }
}
for (const [where, entry] of missing) console.log(`${where} (${entry}) has no comment`);
console.log(`${count} exports of ${Object.keys(entries).length - 1} entry points, ${missing.size} without a comment`);
process.exitCode = missing.size > 0 ? 1 : 0;

function read(file) {
  if (!parsed.has(file)) {
    const text = readFileSync(file, "utf8");
    const { program, comments } = parseSync(file, text);
    parsed.set(file, { text, program, comments });
  }
  return parsed.get(file);
}

/** The names that a module exports, whether it declares them or passes them on. */
function exportsOf(file) {
  return read(file).program.body.flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration") return [];
    if (node.declaration !== null) return namesOf(node.declaration);
    return node.specifiers.map(({ exported }) => exported.name);
  });
}

function namesOf(declaration) {
  return declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id.name];
}

/** Where a name is declared, and whether a comment stands right in front of it. */
function declarationOf(file, name) {
  const { program } = read(file);
  let imported;
  for (const node of program.body) {
    if (node.type === "ExportNamedDeclaration") {
      if (node.declaration !== null && namesOf(node.declaration).includes(name)) return { file, documented: documented(file, node) };
      const specifier = node.specifiers.find(({ exported }) => exported.name === name);
      if (specifier === undefined) continue;
      // What comes from another package is documented there.
      if (node.source !== null && !node.source.value.startsWith(".")) return { file, documented: true };
      if (node.source !== null) return declarationOf(resolved(file, node.source.value), specifier.local.name);
      imported = specifier.local.name;
    }
  }
  const local = imported ?? name;
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") {
      const specifier = node.specifiers.find((each) => each.local.name === local);
      if (specifier === undefined) continue;
      if (!node.source.value.startsWith(".")) return { file, documented: true };
      return declarationOf(resolved(file, node.source.value), specifier.imported.name);
    }
    const own = node.type.endsWith("Declaration") && node.type !== "ExportNamedDeclaration" && namesOf(node).includes(local);
    if (own) return { file, documented: documented(file, node) };
  }
  throw new Error(`${file} does not declare ${local}`);
}

function resolved(file, specifier) {
  return join(dirname(file), specifier.replace(/\.js$/, ".ts"));
}

function documented(file, { start }) {
  const { text, comments } = read(file);
  return comments.some(({ type, value, end }) => type === "Block" && value.startsWith("*") && text.slice(end, start).trim() === "");
}
