import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/table/commands.js";
import { anywire, demo, everything, hasTerminal, lines, run, start } from "./support.js";

const narrow = { COLUMNS: "40" };

/** Lines that are wider than the screen although they could have been broken. */
const tooWide = (text: string): string[] => lines(text).filter((line) => line.length > 40 && line.trim().includes(" "));

/** On a pseudo-terminal of 40 columns. */
function onNarrowTerminal(args: readonly string[]): ReturnType<typeof start> {
  const line = [process.execPath, anywire, ...args].map((word) => `'${word}'`).join(" ");
  return start("script", ["-qfec", `stty cols 40; ${line}`, "/dev/null"], { env: { TERM: "xterm", NO_COLOR: "1" } });
}

describe("on 40 columns", () => {
  it("help fits, with examples that can still be pasted", async () => {
    for (const args of [["--help"], ...commands.map(({ name }) => [name, "--help"])]) {
      const { stdout } = await run(args, { env: narrow });
      expect(tooWide(stdout), args.join(" ")).toEqual([]);
    }
    const { stdout } = await run(["call", "--help"], { env: narrow });
    const examples = stdout.slice(stdout.indexOf("examples\n")).split("\n").slice(1).join("\n");
    const pasted = spawnSync("bash", ["-c", `anywire() { printf '<%s>' "$@"; echo; }\n${examples}`], { encoding: "utf8" });
    expect(pasted.stdout).toContain("<call><echo><text=hello there><times=2><--><anywire><demo>\n");
    expect(pasted.stderr).toBe("");
  });

  it("lists fit, and one tool does", async () => {
    for (const args of [
      ["tools", ...everything],
      ["resources", ...demo],
      ["prompts", ...everything],
      ["discover", ...demo],
    ]) {
      const { stdout } = await run(args, { env: narrow });
      expect(tooWide(stdout), args[0]).toEqual([]);
      expect(lines(stdout).length).toBeGreaterThan(4);
    }
    const { stdout } = await run(["tools", "echo", ...demo], { env: narrow });
    expect(stdout).toContain("\nanywire call echo text=<string>\n    [times=<integer>] [upper=<boolean>]\n");
  });

  it.runIf(hasTerminal)("errors break at spaces, and addresses stay whole", async () => {
    const usage = await onNarrowTerminal(["cal"]).ended;
    expect(usage.stdout).toBe('anywire: unknown command "cal"; did you\r\nmean call?\r\n');
    const missing = await onNarrowTerminal(["call", "ech", ...demo]).ended;
    expect(missing.stdout).toBe('anywire: the server has no tool "ech";\r\ndid you mean echo?\r\n');
    const address = `http://127.0.0.1:1/${"long/".repeat(10)}`;
    const unreached = await onNarrowTerminal(["ping", address]).ended;
    expect(unreached.stdout).toContain(`${address}:\r\n`);
    expect(tooWide(unreached.stdout.replaceAll("\r", ""))).toEqual([]);
  });

  it("and piped output without COLUMNS is as wide as before", async () => {
    expect((await run(["cal"])).stderr).toBe('anywire: unknown command "cal"; did you mean call?\n');
  });
});
