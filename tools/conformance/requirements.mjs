import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The scenarios of a revision, as the suite's own file has them: `server` and `client` are scored, of `unscored` each names its leg. */
export async function requirements(suite, revision) {
  const lists = { server: [], client: [], unscored: [] };
  let section;
  for (const line of (await readFile(join(suite, "requirements", `${revision}.yaml`), "utf8")).split("\n")) {
    const heading = /^(\w+):/.exec(line)?.[1];
    const scenario = /^ {2}- (?:scenario: )?(\S+)$/.exec(line)?.[1];
    const leg = /^ {4}leg: (\w+)$/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    else if (scenario !== undefined && section === "not_scored") lists.unscored.push({ scenario, leg: undefined });
    else if (scenario !== undefined) lists[section].push(scenario);
    else if (leg !== undefined) lists.unscored.at(-1).leg = leg;
  }
  if (lists.server.length === 0 || lists.client.length === 0) throw new Error(`the requirements of ${revision} are not as expected`);
  return lists;
}
