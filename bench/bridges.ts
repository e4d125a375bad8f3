import { checks, tried } from "./bridges/checks.js";
import { anywire, installOthers, mcpProxy, supergateway } from "./bridges/programs.js";
import type { Bench, Outcome } from "./figure.js";

/** What users of a bridge rely on, of ours beside two others: each in front of the same server on stdio, as its users start it. */
export const bridges: Bench = { name: "bridges", run };

async function run(): Promise<Outcome> {
  installOthers();
  const chosen = process.env["CHECKS"];
  const some = chosen === undefined ? checks : checks.filter(({ name }) => name.includes(chosen));
  const programs = [anywire, supergateway, mcpProxy];
  const columns: string[][] = [];
  for (const program of programs) columns.push(await tried(program, some));
  const rows = [
    ["check", ...programs.map(({ name }) => name)],
    ...some.map(({ name }, at) => [name, ...columns.map((column) => column[at] as string)]),
  ];
  const widths = (rows[0] as string[]).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return {
    figures: some.map(({ name, good, passes = (seen: string) => seen === good }, at) => {
      const value = columns[0]?.[at] as string;
      return { name, value, target: good, pass: passes(value) };
    }),
    notes: rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] as number)).join("  ")),
  };
}
