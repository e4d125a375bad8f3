import { catalogueTokens, encodings, type ShownAs, type ShownTool, tokenizer } from "../../schema/index.js";
import type { Input } from "../args/input.js";
import { say } from "../out/say.js";
import { withTools } from "../session/tool-source.js";
import { exitCodes } from "../table/exit-codes.js";

const rows: readonly (readonly [shown: ShownAs, about: string])[] = [
  ["json", "tools/list as JSON"],
  ["described", "name, description and input schema of each"],
  ["signatures", "signatures with first sentences"],
  ["references", "names and references to schemas"],
  ["index", "names and first sentences"],
  ["names", "names alone"],
  ["progressive", "progressive discovery, nothing described"],
  ["progressive3", "the same, and 3 tools of average size described"],
  ["progressive3Largest", "the same, and the 3 largest tools described"],
];

export function runTokens(input: Input): Promise<number> {
  return withTools(input, input.positionals[0], async ({ server, tools }) => {
    const all: ShownTool[] = [];
    for await (const tool of tools) all.push(tool);
    const counted = [];
    for (const encoding of encodings) counted.push({ encoding, ...catalogueTokens(all, server, await tokenizer(encoding)) });
    if (input.options.has("json")) {
      for (const each of counted) say(JSON.stringify(each), process.stdout);
      return exitCodes.ok;
    }
    const line = (first: string, ...cells: readonly string[]): void =>
      say(`${first.padEnd(50)}${cells.map((cell) => cell.padStart(20)).join("")}`.trimEnd(), process.stdout);
    line(`${all.length} tools`, ...encodings);
    for (const [shown, about] of rows)
      line(
        about,
        ...counted.map(
          ({ tokens }) => `${tokens[shown]}${tokens.json === 0 ? "" : ` (${((100 * tokens[shown]) / tokens.json).toFixed(1)}%)`}`,
        ),
      );
    return exitCodes.ok;
  });
}
