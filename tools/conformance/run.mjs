import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hops, notThroughLegacy } from "./hops.mjs";
import { installed } from "./install.mjs";
import { endAll, run, start } from "./processes.mjs";
import { requirements } from "./requirements.mjs";
import { compare, expectedOf, judge, savedChecks } from "./results.mjs";

// Runs the official conformance suite against the server and the client under test: node run.mjs [--through WIRE,…|all] [part of a scenario's name…]
const here = fileURLToPath(new URL(".", import.meta.url));
const results = fileURLToPath(new URL("../../.cache/conformance/", import.meta.url));
const revisions = ["2025-11-25", "2026-07-28"];
const { values, positionals: parts } = parseArgs({ allowPositionals: true, options: { through: { type: "string" } } });
const wanted = (scenario) => parts.length === 0 || parts.some((part) => scenario.includes(part));

/** The server's scenarios in one go: the suite runs them in turn. */
async function serverLeg(suite, revision, scenarios, url, folder = "server") {
  const out = join(results, revision, folder);
  const { output } = await suite(["server", "--url", url, "--requirements", revision, "-o", out], 300_000);
  const saved = new Map(
    (await savedChecks(out)).map(({ at, checks }) => [at.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ""), checks]),
  );
  if (saved.size === 0) throw new Error(`the suite did not run:\n${output}`);
  return scenarios.map((scenario) => ({ scenario, ...judge(saved.get(scenario) ?? []) }));
}

/** The client's scenarios one at a time: at once they are in each other's way. */
async function clientLeg(suite, revision, scenarios) {
  const outcomes = [];
  const command = `"${process.execPath}" "${join(here, "client.mjs")}"`;
  for (const [at, scenario] of scenarios.entries()) {
    const out = join(results, revision, "client", String(at));
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision, "--force", "--timeout", "20000"];
    const { code } = await suite([...args, "-o", out], 45_000);
    const [saved] = await savedChecks(out);
    outcomes.push({ scenario, ...judge(saved?.checks ?? [], code === 0) });
  }
  return outcomes;
}

/** Tells how a leg went; false if not as expected. */
function report(title, outcomes, required, expected) {
  const scored = outcomes.filter(({ scenario }) => required.includes(scenario));
  const others = outcomes.filter(({ scenario }) => !required.includes(scenario));
  const passed = (list) => list.filter(({ ok }) => ok).length;
  const sum = (member) => scored.reduce((total, outcome) => total + outcome[member], 0);
  process.stdout.write(
    `${title}: ${passed(scored)} of ${scored.length} required scenarios passed, ${sum("passed")} checks passed, ${sum("failed")} failed; ` +
      `${passed(others)} of ${others.length} unscored scenarios passed\n`,
  );
  const { unexpected, stale } = compare(outcomes, expected.filter(wanted));
  for (const { scenario, problems } of unexpected) process.stdout.write(`  failed: ${scenario}\n    ${problems.join("\n    ")}\n`);
  for (const scenario of stale) process.stdout.write(`  listed in expected-failures.json, but does not fail: ${scenario}\n`);
  return unexpected.length === 0 && stale.length === 0;
}

/** The server's scenarios over HTTP → bridge → a wire → bridge → HTTP. */
async function throughBridges({ suite, home, expected, server, log }) {
  const names = values.through === "all" ? Object.keys(hops) : values.through.split(",");
  const unknown = names.find((name) => hops[name] === undefined);
  if (unknown !== undefined) throw new Error(`no wire ${unknown}; known are all, ${Object.keys(hops).join(", ")}`);
  let good = true;
  for (const name of names) {
    const bridges = await start(join(here, "bridges.mjs"), [name, server], log.fd);
    for (const revision of revisions) {
      const lists = await requirements(home, revision);
      const scenarios = lists.server.filter(wanted);
      const known = expectedOf(expected, "server", revision).filter((scenario) => scenarios.includes(scenario));
      const legacy = hops[name].legacy && revision !== revisions[0] ? notThroughLegacy : {};
      const outcomes = await serverLeg(suite, revision, scenarios, bridges.address, `server-${name.replace("+", "-")}`);
      good = report(`${revision} server through ${name}`, outcomes, lists.server, [...known, ...Object.keys(legacy)]) && good;
      for (const { scenario } of outcomes.filter(({ ok, scenario }) => !ok && scenario in legacy))
        process.stdout.write(`  cannot pass: ${scenario}: ${legacy[scenario]}\n`);
    }
    await bridges.stop();
  }
  return finish(good);
}

function finish(good) {
  process.stdout.write(good ? "as expected\n" : `not as expected; the suite's own results are in ${results}\n`);
  process.exitCode = good ? 0 : 1;
}

async function main() {
  const node = join(await installed("node22", "node"), "bin", "node");
  const home = await installed("conformance", "@modelcontextprotocol/conformance");
  const suite = (args, ms) => run(node, [join(home, "dist", "index.js"), ...args], { ms });
  const expected = JSON.parse(await readFile(join(here, "expected-failures.json"), "utf8"));
  await rm(results, { recursive: true, force: true });
  await mkdir(results, { recursive: true });
  const log = await open(join(results, "server.log"), "w");
  const server = await start(join(here, "server.mjs"), [], log.fd);
  if (values.through !== undefined) {
    try {
      return await throughBridges({ suite, home, expected, server: server.address, log });
    } finally {
      await server.stop();
      await log.close();
    }
  }
  const legs = {
    server: (revision, scenarios) => serverLeg(suite, revision, scenarios, server.address),
    client: (revision, scenarios) => clientLeg(suite, revision, scenarios),
  };
  let good = true;
  try {
    for (const [leg, play] of Object.entries(legs)) {
      for (const revision of revisions) {
        const lists = await requirements(home, revision);
        const unscored = lists.unscored.filter((entry) => entry.leg === leg).map(({ scenario }) => scenario);
        const scenarios = [...lists[leg], ...unscored].filter(wanted);
        if (scenarios.length === 0) continue;
        const outcomes = await play(revision, scenarios);
        good = report(`${revision} ${leg}`, outcomes, lists[leg], expectedOf(expected, leg, revision)) && good;
      }
    }
  } finally {
    await server.stop();
    await log.close();
  }
  finish(good);
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}
process.once("exit", endAll);
await main();
