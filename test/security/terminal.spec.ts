import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasTerminal, onTerminal, root, run, script } from "../cli/support.js";

const server = ["--", process.execPath, join(import.meta.dirname, "../fixtures/hostile-text.mjs")];

/** Everything in which the server of the fixture has a say. */
const commands: readonly (readonly string[])[] = [
  ["tools"],
  ["tools", "--json"],
  ["prompts"],
  ["resources"],
  ["resources", "--templates"],
  ["discover"],
  ["discover", "--json"],
  ["read", "x:y"],
  ["read", "x:y", "--json"],
  ["prompt", "ask"],
  ["prompt", "ask", "nme=1"],
  ["complete", "prompt:ask", "name"],
  ["call", "unknown"],
  ["call", "text"],
  ["call", "text", "--json"],
  ["call", "text", "--events"],
  ["call", "blocks"],
  ["call", "structured"],
  ["call", "failed"],
  ["call", "fault"],
  ["call", "named"],
  ["call", "named", "nme=1"],
  ["call", "named", "choice=2", "-vv"],
];

/** Controls but for the line break and tab, DEL, C1, and what turns the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
/** What a terminal adds to a line break, the codes for bold, dim and red, and the meter that is written over. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const own = /\r\n|\u001b\[(?:1|2|22|31|39)m|\r/g;

describe("a server's text", () => {
  it.skipIf(!hasTerminal)("makes a terminal do nothing, wherever it stands", { timeout: 120_000 }, async () => {
    for (const command of commands) {
      const { stdout } = await onTerminal([...command, ...server]).ended;
      expect([command, stdout]).toEqual([command, expect.stringContaining("\\u")]);
      expect([command, obeyed.exec(stdout.replace(own, ""))]).toEqual([command, null]);
      // A code of our own that a server sends is not ours.
      expect(stdout).not.toContain("\u001b[1mforged");
    }
  });

  it("reaches a program as it is, and people who read stderr in a file made visible", async () => {
    const { stdout } = await run(["call", "text", ...server]);
    expect(stdout).toContain("\u001b[2J");
    for (const command of [
      ["call", "failed"],
      ["call", "fault"],
      ["call", "named"],
      ["call", "text", "-vv"],
    ]) {
      const { stderr } = await run([...command, ...server]);
      expect([command, stderr]).toEqual([command, expect.stringContaining("\\u009b")]);
      expect([command, obeyed.exec(stderr)]).toEqual([command, null]);
    }
  });

  it.skipIf(!hasTerminal)("in JSON stays JSON on a terminal", async () => {
    const { stdout } = await onTerminal(["call", "text", "--json", ...server]).ended;
    expect(JSON.parse(/\{"content".*\}/.exec(stdout)?.[0] ?? "").content[0].text).toContain("\u001b[2J\u009b31m");
  });

  it("goes through one place: nothing else of the command writes to its streams", () => {
    const folder = join(root, "src/cli");
    const writers = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter(
        (name) =>
          name.endsWith(".ts") && /(?:stdout|stderr|stream)[^\n]*\.write\(|console\./.test(readFileSync(join(folder, name), "utf8")),
      )
      .sort();
    // The completion script is our own text, for a shell.
    expect(writers).toEqual(["commands/completion.ts", "main.ts", "out/output.ts", "out/say.ts", "out/screen.ts"]);
  });
});

describe("an error of a server that never ends", () => {
  it("is shown as far as anybody would read it, and says how much was left out", async () => {
    const source = `
      const { createInterface } = require("node:readline");
      createInterface({ input: process.stdin }).on("line", (line) => {
        const { id } = JSON.parse(line);
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no ".repeat(2_000_000) } }));
      });`;
    const { code, stdout, stderr } = await run(["tools", ...script(source)]);
    expect(code).not.toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/no no … \d{7} characters more/);
    expect(stderr.length).toBeLessThan(10_000);
  });
});
