// Shows how well the schemas of real tools convert to protobuf: npm run schemas -- [folder of catalogues] [--values N] [--seed N]
// A catalogue is a JSON file with the result of tools/list. Without a folder those of the tests are taken.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { catalogueTokens, catalogueWriter, encodings, moduleFiles, packageOf, tokenizer, toolsOf } from "../../dist/schema/index.js";
import { compare, zero } from "./agreement.mjs";
import { resolution } from "./resolution.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const option = (name, otherwise) => (args.includes(name) ? Number(args.splice(args.indexOf(name), 2)[1]) : otherwise);
const [values, firstSeed] = [option("--values", 30), option("--seed", 1)];
const folder = args[0] ?? join(root, "test/schema/fixtures");
const catalogues = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => ({ server: file.replace(/\.json$/, ""), tools: toolsOf(JSON.parse(readFileSync(join(folder, file), "utf8"))) }));
const percent = (part, whole) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(3)}%`);

/** Each figure with what is to be reached. Without a folder the schemas are those of the tests, which are made of trouble. */
const figures = [];
const figure = (name, reached, wanted, holds) => figures.push({ name, reached, wanted, holds });

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
let builds = true;
for (const command of ["build", "lint"]) {
  const { status, stdout, stderr } = buf(command);
  console.log(`buf ${command}: ${status === 0 ? "passes" : `fails\n${stdout}${stderr}`.slice(0, 3000)}`);
  if (status !== 0) builds = false;
}
rmSync(out, { recursive: true });
figure(
  "tools that convert and pass buf build and lint",
  `${builds ? converted.length : 0} of ${total}`,
  "all",
  builds && converted.length === total,
);

// In a process of its own, as whoever types the command waits for it.
const COLD = 344;
const cold = mkdtempSync(join(tmpdir(), "anywire-cold-"));
const all = catalogues.flatMap(({ tools }) => tools);
const some = Array.from({ length: COLD }, (_, index) => {
  const tool = all[index % all.length];
  return { ...tool, name: `${tool.name}_${index}` };
});
writeFileSync(join(cold, "tools.json"), JSON.stringify({ tools: some }));
const started = performance.now();
const usage = 'process.on("exit", () => process.stderr.write("\\nprocessor " + process.cpuUsage().user + "\\n"))';
const command = spawnSync(
  process.execPath,
  [
    ...["--import", `data:text/javascript,${encodeURIComponent(usage)}`],
    ...[join(root, "bin/anywire.js"), "schema", "to-proto", join(cold, "tools.json"), "-o", join(cold, "out"), "-v"],
  ],
  { encoding: "utf8" },
);
const coldSeconds = (performance.now() - started) / 1000;
rmSync(cold, { recursive: true });
const processor = Number(/^processor (\d+)$/m.exec(command.stderr)?.[1]) / 1e6;
const shownProgress = command.stderr.split("\n").filter((line) => /tools converted|files written/.test(line)).length;
figure(
  `${COLD} tools by the command, cold`,
  `${coldSeconds.toFixed(2)} s (${processor.toFixed(2)} s of processor time, at a load of ${loadavg()[0].toFixed(1)}), progress shown ${shownProgress} times`,
  "≤ 5 s, progress shown",
  coldSeconds <= 5 && shownProgress > 0,
);

const sums = zero();
let seed = firstSeed;
for (const [index, { label, made }] of converted.entries()) {
  for (const side of [made.input, made.output]) if (side !== undefined) await compare(side, label, values, seed++, sums);
  if (index % 50 === 0) process.stderr.write(`\r${index} tools compared`);
}
process.stderr.write("\r                    \r");
console.log(`${sums.values} values, ${sums.accepted} of them valid`);
console.log(
  `agreement with ajv, residual keywords checked: ${percent(sums.on, sums.values)}; by protobuf and protovalidate alone: ${percent(sums.off, sums.values)}`,
);
console.log(`agreement of Anywire's own check of the whole schema with ajv, formats as annotations: ${percent(sums.own, sums.values)}`);
console.log(`valid values that survive JSON → protobuf → JSON: ${percent(sums.survived, sums.accepted)}`);
console.log(`agreement of ajv on the schema made back from the message with ajv on the original: ${percent(sums.back, sums.values)}`);
for (const [kind, { count, example }] of [...sums.exceptions].sort((one, other) => other[1].count - one[1].count).slice(0, 20))
  console.log(`  ${count} × ${kind}\n      ${example}`);

figure("agreement with ajv, residual keywords checked", percent(sums.on, sums.values), "≥ 99.9%", sums.on >= 0.999 * sums.values);
figure("agreement with ajv, residual keywords not checked", percent(sums.off, sums.values), "≥ 99.6%", sums.off >= 0.996 * sums.values);
figure(
  "valid values that survive JSON → protobuf → JSON",
  percent(sums.survived, sums.accepted),
  "≥ 99.9%",
  sums.survived >= 0.999 * sums.accepted,
);

const largest = catalogues.reduce((one, other) => (other.tools.length > one.tools.length ? other : one));
const writer = catalogueWriter({ package: packageOf(largest.server) });
for (const tool of largest.tools) writer.add(tool);
const times = await resolution(
  writer.finish().tools,
  largest.tools.map(({ name }) => name),
);
console.log(
  `resolution of a schema out of ${largest.tools.length}: ${times.registry.toFixed(2)} ms from a registry on loopback (${times.cold.toFixed(0)} ms with the loading of the code), ${times.disk.toFixed(2)} ms from the disk, ${(1000 * times.memory).toFixed(1)} µs from memory`,
);
figure("resolution, cached, of the first", percent(times.memory, times.registry), "≤ 1%", times.memory <= 0.01 * times.registry);

for (const encoding of encodings) {
  const count = await tokenizer(encoding);
  console.log(
    `tokens, ${encoding}, of catalogues with 50 tools or more: tools/list; progressive with 3 tools of average size; with the 3 largest`,
  );
  const shares = [];
  for (const { server, tools } of catalogues.filter((each) => each.tools.length >= 50)) {
    const { tokens } = catalogueTokens(tools, server, count);
    shares.push(tokens.progressive3 / tokens.json);
    console.log(
      `  ${server} (${tools.length}): ${tokens.json}; ${tokens.progressive3} (${percent(tokens.progressive3, tokens.json)}); ${tokens.progressive3Largest} (${percent(tokens.progressive3Largest, tokens.json)})`,
    );
  }
  shares.sort((one, other) => one - other);
  const below = shares.filter((share) => share <= 0.2).length;
  figure(
    `tokens, ${encoding}: index and 3 described tools of the whole list`,
    shares.length === 0 ? "–" : `${percent(shares[0], 1)} to ${percent(shares.at(-1), 1)} on ${shares.length} catalogues`,
    "≤ 20% on 3 of 50 tools or more",
    below >= 3,
  );
}

console.log("\nfigures");
for (const { name, reached, wanted, holds } of figures) console.log(`  ${holds ? "✓" : "✗"} ${name}: ${reached} (to reach: ${wanted})`);
if (args[0] !== undefined && figures.some(({ holds }) => !holds)) process.exitCode = 1;
