// Shows how well the schemas of real tools convert to protobuf: npm run schemas -- [folder of catalogues] [--values N] [--seed N]
// A catalogue is a JSON file with the result of tools/list. Without a folder those of the tests are taken.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { catalogueTokens, catalogueWriter, encodings, moduleFiles, packageOf, tokenizer, toolsOf } from "../../dist/schema/index.js";
import { compare, zero } from "./agreement.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const option = (name, otherwise) => (args.includes(name) ? Number(args.splice(args.indexOf(name), 2)[1]) : otherwise);
const [values, firstSeed] = [option("--values", 30), option("--seed", 1)];
const folder = args[0] ?? join(root, "test/schema/fixtures");
const catalogues = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => ({ server: file.replace(/\.json$/, ""), tools: toolsOf(JSON.parse(readFileSync(join(folder, file), "utf8"))) }));
const percent = (part, whole) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(3)}%`);

const out = mkdtempSync(join(tmpdir(), "anywire-schemas-"));
let total = 0;
let residual = 0;
const failures = [];
const converted = [];
const since = performance.now();
for (const { server, tools } of catalogues) {
  const writer = catalogueWriter({ package: packageOf(server) });
  for (const tool of tools) {
    total++;
    try {
      const made = writer.add(tool);
      converted.push({ label: `${server}: ${tool.name}`, made });
      if (made.input.residual.length + (made.output?.residual.length ?? 0) > 0) residual++;
    } catch (error) {
      failures.push(error.message);
    }
  }
  for (const [path, text] of moduleFiles(writer.finish())) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  }
  process.stderr.write(`\r${total} tools converted`);
}
const seconds = (performance.now() - since) / 1000;
process.stderr.write("\n");
console.log(
  `${catalogues.length} catalogues, ${total} tools: ${converted.length} converted and written in ${seconds.toFixed(2)} s (${((1000 * seconds) / total).toFixed(1)} ms a tool), ${residual} with residual keywords`,
);
for (const failure of failures) console.log(`  failed: ${failure}`);
const buf = (...command) =>
  spawnSync(process.execPath, [join(root, "node_modules/@bufbuild/buf/bin/buf"), ...command, out], { encoding: "utf8" });
for (const command of ["build", "lint"]) {
  const { status, stdout, stderr } = buf(command);
  console.log(`buf ${command}: ${status === 0 ? "passes" : `fails\n${stdout}${stderr}`.slice(0, 3000)}`);
  if (status !== 0) process.exitCode = 1;
}
rmSync(out, { recursive: true });

const sums = zero();
let seed = firstSeed;
for (const [index, { label, made }] of converted.entries()) {
  for (const side of [made.input, made.output]) if (side !== undefined) compare(side, label, values, seed++, sums);
  if (index % 50 === 0) process.stderr.write(`\r${index} tools compared`);
}
process.stderr.write("\r                    \r");
console.log(`${sums.values} values, ${sums.accepted} of them valid`);
console.log(
  `agreement with ajv, residual keywords checked: ${percent(sums.on, sums.values)}; by protobuf and protovalidate alone: ${percent(sums.off, sums.values)}`,
);
console.log(`valid values that survive JSON → protobuf → JSON: ${percent(sums.survived, sums.accepted)}`);
console.log(`agreement of ajv on the schema made back from the message with ajv on the original: ${percent(sums.back, sums.values)}`);
for (const [kind, { count, example }] of [...sums.exceptions].sort((one, other) => other[1].count - one[1].count).slice(0, 20))
  console.log(`  ${count} × ${kind}\n      ${example}`);

for (const encoding of encodings) {
  const count = await tokenizer(encoding);
  console.log(
    `tokens, ${encoding}, of catalogues with 50 tools or more: tools/list; progressive with 3 tools of average size; with the 3 largest`,
  );
  for (const { server, tools } of catalogues.filter((each) => each.tools.length >= 50)) {
    const { tokens } = catalogueTokens(tools, server, count);
    console.log(
      `  ${server} (${tools.length}): ${tokens.json}; ${tokens.progressive3} (${percent(tokens.progressive3, tokens.json)}); ${tokens.progressive3Largest} (${percent(tokens.progressive3Largest, tokens.json)})`,
    );
  }
}
