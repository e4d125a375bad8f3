import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/table/commands.js";
import { anywire, fixture, hasTerminal, loaded, root, run, scratch, start } from "./support.js";

describe("starting", () => {
  it("loads neither a wire nor the client for help, and little altogether", async () => {
    const files = await loaded(["--help"]);
    expect(files).toContain("bin/anywire.js");
    expect(files).toContain("dist/cli/help/help.js");
    expect(files.filter((file) => !file.startsWith("dist/cli/") && file !== "bin/anywire.js")).toEqual([]);
    expect(files.filter((file) => /\/(commands|session|ask|values)\/|node_modules/.test(file.replace("table/commands", "")))).toEqual([]);
    // The same way of looking does see them where they are loaded.
    const demo = await loaded(["ping", "--", process.execPath, join(root, "bin/anywire.js"), "demo"]);
    expect(demo).toContain("dist/wires/stdio/stdio.js");
  });

  it("costs little", async () => {
    const least = async (args: readonly string[]): Promise<number> => {
      const figures: number[] = [];
      for (let turn = 0; turn < 5; turn++) {
        const { stderr } = await start(process.execPath, ["-r", fixture("usage.cjs"), ...args]).ended;
        figures.push((JSON.parse(/usage (.*)/.exec(stderr)?.[1] ?? "{}") as { cpuMs: number }).cpuMs);
      }
      return Math.round(Math.min(...figures));
    };
    const help = await least([anywire, "--help"]);
    console.log(`anywire --help: ${help} ms of CPU (goal 150), of which Node itself ${await least(["-e", "0"])} ms`);
    // The goal is printed; the limit only catches what is wrong by far, whatever else the machine does.
    expect(help).toBeLessThan(3000);
  });
});

describe("help", () => {
  it("is there for the whole and for each command, with examples", async () => {
    const { stdout, code } = await run(["--help"]);
    expect(code).toBe(0);
    for (const { name, about } of commands) expect(stdout).toContain(`${name.padEnd(10)}  ${about}`);
    expect(stdout).toContain("  3    the tool reported an error");
    for (const command of commands) {
      const own = (await run([command.name, "--help"])).stdout;
      for (const option of command.options) expect(own).toContain(`--${option.name}`);
      for (const example of command.examples) expect(own).toContain(`  ${example}\n`);
    }
    expect((await run(["help", "read"])).stdout).toContain("anywire read <uri> [options] (<url> | -- <command...>)");
    expect((await run([])).stdout).toBe(stdout);
  });

  it("has examples that parse", async () => {
    const { parse } = await import("../../src/cli/args/parse.js");
    const { translate } = await import("../../src/cli/as/translate.js");
    for (const { examples } of commands) {
      for (const example of examples) {
        // Without what the shell makes of it.
        const line = example.replace(/^.*?anywire /, "").replace(/( [|<>] .*|\))$/, "");
        const words = line.match(/(?:'[^']*'|[^\s'])+/g)?.map((word) => word.replaceAll("'", "")) ?? [];
        const own = words[1] === "--as" ? translate(words[2], words.slice(3)).args : words;
        expect(parse(own), example).toMatchObject({ tag: "run" });
      }
    }
  });

  it("says the version", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect((await run(["--version"])).stdout).toBe(`${version}\n`);
  });
});

describe("the man page", () => {
  it("is current, and goes with the package", () => {
    const check = spawnSync(process.execPath, [join(root, "tools/man.mjs"), "--check"], { encoding: "utf8" });
    expect([check.status, check.stderr]).toEqual([0, ""]);
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { man: string; files: string[] };
    expect(manifest.man).toBe("./man/anywire.1");
    expect(manifest.files).toContain("man");
  });

  it.skipIf(spawnSync("man", ["--version"]).error !== undefined)("can be read (needs man)", () => {
    const file = join(root, "man/anywire.1");
    const env = { ...process.env, LC_ALL: "C.UTF-8", MANWIDTH: "100" };
    const { stdout, stderr } = spawnSync("man", ["--warnings", "-l", file], { encoding: "utf8", env });
    expect(stderr).toBe("");
    for (const { name } of commands) expect(stdout).toMatch(new RegExp(`^ {3}${name}$`, "m"));
    expect(stdout).toContain("anywire call echo text='hello there' times=2 -- anywire demo");
  });
});

describe("shell completion", () => {
  it.each(["bash", "zsh", "fish"])("%s knows every command and option", async (shell) => {
    const { stdout, code } = await run(["completion", shell]);
    expect(code).toBe(0);
    for (const { name, options } of commands) {
      expect(stdout).toContain(name);
      for (const option of options) expect(stdout).toContain(shell === "fish" ? `-l ${option.name}` : `--${option.name}`);
    }
    // From a file: fish does not read a script from its stdin.
    const file = join(scratch(), "completion");
    writeFileSync(file, stdout);
    const check = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    // A shell that is not here cannot say that it does not understand.
    if (check.error === undefined) expect([check.status, check.stderr]).toEqual([0, ""]);
  });

  it("bash completes with it", async () => {
    const { stdout: source } = await run(["completion", "bash"]);
    const complete = (...words: string[]): string[] => {
      const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _anywire; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", `${source}\n${line}`], { encoding: "utf8" })
        .stdout.trim()
        .split("\n");
    };
    expect(complete("anywire", "re")).toEqual(["resources", "read"]);
    expect(complete("anywire", "read", "--of")).toEqual(["--offset"]);
    expect(complete("anywire", "tools", "--era", "m")).toEqual(["modern"]);
    expect(complete("anywire", "completion", "z")).toEqual(["zsh"]);
  });

  /** A PATH on which the command has its name. */
  const path = (): string => {
    const folder = scratch();
    writeFileSync(join(folder, "anywire"), `#!/bin/sh\nexec '${process.execPath}' '${anywire}' "$@"\n`, { mode: 0o755 });
    return `${folder}:${process.env["PATH"]}`;
  };
  const has = (shell: string): boolean => spawnSync(shell, ["--version"]).error === undefined;

  it.skipIf(!has("zsh") || !hasTerminal)(
    "zsh completes with the line of the guide, in a shell that is not set up (needs zsh)",
    async () => {
      const [line = ""] = /^source .*zsh\)$/m.exec(readFileSync(join(root, "docs/guide/cli.md"), "utf8")) ?? [];
      const env = { TERM: "xterm", PATH: path(), HOME: scratch() };
      const running = start("script", ["-qfec", "stty cols 100; zsh -f -i", "/dev/null"], { env });
      // It reads lines from here on.
      await running.shows("\u001b[?2004h");
      running.child.stdin.write(`${line} && echo so''urced\n`);
      await running.shows(/^sourced/m);
      // What the shell makes of a line is what the command would have got.
      running.child.stdin.write(`anywire() { echo "<$*>" }\n`);
      for (const [typed, completed] of [
        ["rea", "<read>"],
        ["read --forc", "<read --force>"],
        ["call --log-level eme", "<call --log-level emergency>"],
      ] as const) {
        running.child.stdin.write(`anywire ${typed}\t\n`);
        await running.shows(completed);
      }
      running.child.stdin.write("exit\n");
      await running.ended;
    },
  );

  it.skipIf(!has("fish"))("fish completes with it (needs fish)", async () => {
    const file = join(scratch(), "anywire.fish");
    writeFileSync(file, (await run(["completion", "fish"])).stdout);
    const complete = (words: string): string[] => {
      const env = { ...process.env, PATH: path(), HOME: scratch() };
      const { stdout } = spawnSync("fish", ["-N", "-c", `source ${file}; complete -C '${words}'`], { encoding: "utf8", env });
      return stdout.split("\n").map((each) => each.split("\t")[0] ?? "");
    };
    expect(complete("anywire re")).toEqual(["read", "resources", ""]);
    expect(complete("anywire read --of")).toEqual(["--offset", ""]);
    expect(complete("anywire call --log-level eme")).toEqual(["emergency", ""]);
  });
});
