import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The checks that the suite saved below a folder, each list with the folder it stood in. */
export async function savedChecks(folder) {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const found = files.filter((file) => file.endsWith("checks.json"));
  return Promise.all(found.map(async (file) => ({ at: dirname(file), checks: JSON.parse(await readFile(join(folder, file), "utf8")) })));
}

/** What a scenario's checks amount to. One that checked nothing has not passed, and a warning is a failure here. */
export function judge(checks, ended = true) {
  const count = (status) => checks.filter((check) => check.status === status).length;
  const passed = count("SUCCESS");
  const failed = count("FAILURE") + count("WARNING");
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`);
  if (!ended) problems.push("the client failed or did not end in time");
  if (passed === 0 && failed === 0) problems.push("nothing was checked");
  return { passed, failed, ok: passed > 0 && failed === 0 && ended, problems };
}

/** Of the groups in expected-failures.json, the scenarios of one leg and revision. */
export function expectedOf(groups, leg, revision) {
  return groups.filter((group) => group.leg === leg && group.revisions.includes(revision)).flatMap((group) => group.scenarios);
}

/** Compares outcomes with the failures that are expected: what fails unexpectedly, and what is listed and does not fail or is not there. */
export function compare(outcomes, expected) {
  const failing = new Set(outcomes.filter(({ ok }) => !ok).map(({ scenario }) => scenario));
  return {
    unexpected: outcomes.filter(({ scenario, ok }) => !ok && !expected.includes(scenario)),
    stale: expected.filter((scenario) => !failing.has(scenario)),
  };
}
