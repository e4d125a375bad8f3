// Makes dist/ as small as it is published: scripts without comments and indentation, with short names of local variables, descriptors packed,
// no declarations that no entry point leads to, and those that are left compile where Node's types are not installed.
// Lines, statements and the names of functions and classes stay, so stack traces can be read. This is a part of `prepare`, the last script that npm runs
// before it packs, and does nothing when `prepare` runs after an install. After packing all is built again.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { minifySync } from "vite";
import { portable } from "./portable.mjs";
import { packReadme } from "./readme.mjs";

if (!["pack", "publish"].includes(process.env.npm_command)) process.exit();

const root = fileURLToPath(new URL("../../", import.meta.url));
const { exports: entries } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const published = declarationsFrom(Object.values(entries).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)])));

for (const name of readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })) {
  const file = join(root, "dist", name);
  if (name.endsWith(".js")) writeFileSync(file, slim(file));
  else if (name.endsWith(".d.ts") && !published.has(file)) rmSync(file);
  else if (name.endsWith(".d.ts")) writeFileSync(file, portable(readFileSync(file, "utf8")));
}

packReadme();

/** The script as it is, printed again, with descriptors packed. Licences at its top stay. */
function slim(file) {
  const text = packed(readFileSync(file, "utf8"));
  const licence = /^(?:\/\/.*\n)*/.exec(text)[0];
  const mangle = { toplevel: true, keepNames: true };
  const printed = minifySync(file, text, { module: true, compress: false, mangle, codegen: { removeWhitespace: false } });
  if (printed.errors.length > 0) throw new Error(`${file}: ${printed.errors[0].message}`);
  return (/copyright|licen[cs]e/i.test(licence) ? licence : "") + flush(file, printed.code);
}

/** The code without indentation, unless a line of a template literal would lose it. */
function flush(file, code) {
  const flat = code.replace(/^\t+/gm, "");
  const dense = (text) =>
    minifySync(file, text, { module: true, compress: false, mangle: false, codegen: { removeWhitespace: true } }).code;
  return dense(flat) === dense(code) ? flat : code;
}

/** Generated code with its descriptor deflated: a large one is nine tenths of its file, and shrinks to a fifth or less. */
function packed(text) {
  let found = false;
  const changed = text.replace(/fileDesc\("([\w+/=]{4096,})"/, (_, descriptor) => {
    found = true;
    const small = deflateRawSync(Buffer.from(descriptor, "base64"), { level: 9 }).toString("base64");
    return `fileDesc(inflateRawSync(Buffer.from("${small}", "base64")).toString("base64")`;
  });
  return found ? changed.replace(/^import /m, 'import { inflateRawSync } from "node:zlib";\nimport ') : text;
}

/** These declarations, and all that they import. */
function declarationsFrom(files, seen = new Set()) {
  for (const file of files) {
    if (seen.has(file)) continue;
    seen.add(file);
    const imports = [...readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)];
    declarationsFrom(
      imports.map(([, path]) => join(dirname(file), path.replace(/\.js$/, ".d.ts"))),
      seen,
    );
  }
  return seen;
}
