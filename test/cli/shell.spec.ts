import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lineWords, typedWord } from "../../src/cli/shell/words.js";
import { demo, everything, fixture, hasTerminal, isAlive, onTerminal, type Running, run, scratch, until } from "./support.js";

const recorded = (path: string): string[] => ["--", process.execPath, fixture("recorded.mjs"), path];

describe("anywire shell, from a pipe", () => {
  it("runs the lines on one connection, with the state of its server", async () => {
    const lines = [
      "# toggled twice",
      "call toggle-subscriber-updates",
      "",
      "call toggle-subscriber-updates",
      'call echo message="a  b"',
      "exit",
      "x",
    ];
    const { code, stdout, stderr } = await run(["shell", ...everything], { stdin: lines.join("\n") });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Started simulated.*\nStopped simulated.*\nEcho: a {2}b\n$/);
  });

  it("goes on after a line that fails, names it, and ends with its code", async () => {
    const record = join(scratch(), "record");
    const lines = ["call fail", "tool", "call echo 'text=x", "call echo --args -", "--json read demo://nothing", "call echo text=last"];
    const { code, stdout, stderr } = await run(["shell", ...recorded(record)], { stdin: lines.join("\n") });
    expect(code).toBe(3);
    expect(stdout).toMatch(/^\{"error":.*"uri":"demo:\/\/nothing".*\}\nlast\n$/);
    for (const told of [
      "anywire: line 1 failed: call fail",
      'anywire: unknown command "tool"; did you mean tools?\nanywire: line 2 failed: tool',
      "anywire: a quote is not closed\nanywire: line 3 ",
      "anywire: stdin has the lines of the shell: give --args as JSON, or as @file\nanywire: line 4 ",
      "anywire: line 5 failed: --json read demo://nothing",
    ])
      expect(stderr).toContain(told);
    expect(readFileSync(record, "utf8").match(/^pid /gm)).toHaveLength(1);
  });

  it("takes the commands without their server, and the options that are theirs", async () => {
    const lines = [
      "tools --json",
      "read demo://about",
      "prompt introduce who=Ada",
      "complete prompt:introduce who Ad",
      "ping",
      "discover",
      "help read",
    ];
    const { code, stdout } = await run(["shell", ...demo], { stdin: lines.join("\n") });
    expect(code).toBe(0);
    for (const part of [
      '"name":"echo"',
      "Any MCP client, any MCP server",
      "Introduce Ada",
      "\nAda",
      "answer 1 in ",
      "protocol",
      "\n  read <uri> [options]\n",
    ])
      expect(stdout).toContain(part);
    expect(stdout).not.toContain("--token-env");
    const foreign = await run(["shell", ...demo], { stdin: "tools --era legacy\ntools -- other\nbridge\n" });
    expect(foreign.code).toBe(2);
    expect(foreign.stderr).toContain("tools has no option --era");
    expect(foreign.stderr).toContain('unknown command "bridge"');
  });

  it("shows log entries and progress as the call does", async () => {
    const { code, stdout, stderr } = await run(["shell", "-v", ...demo], {
      stdin: "call stream-logs entries=2 ms=1\ncall count to=2 ms=1\n",
    });
    expect(code).toBe(0);
    expect(stdout).toContain("counted to 2");
    expect(stderr).toMatch(/^info.*: /m);
    expect(stderr).toMatch(/\[#+\.*\] +\d+% \d of 2/);
  });

  it("refuses questions and sampling plainly, and stays connected", async () => {
    const { code, stdout, stderr } = await run(["shell", ...demo], { stdin: "call greet\ncall ask-model\ncall echo text=still\n" });
    expect([code, stdout]).toEqual([1, "still\n"]);
    expect(stderr).toContain('the server asks "What is your name?", but there is no terminal to answer at: refused');
    expect(stderr).toContain("it did not declare sampling; this command has no model to ask");
  });

  it("ends with a server that cannot be started", async () => {
    expect(await run(["shell", "--", "/no/such"], { stdin: "tools\n" })).toMatchObject({ code: 4, stdout: "" });
  });
});

describe.runIf(hasTerminal)("anywire shell, at a terminal", () => {
  const shell = (words: readonly string[] = demo, state: string = scratch()): Running =>
    onTerminal(["shell", ...words], { NO_COLOR: "1", XDG_STATE_HOME: state });

  it("completes commands, tools, arguments, values, resources and prompts", async () => {
    const running = shell();
    const type = async (keys: string, shown: string): Promise<void> => {
      running.child.stdin.write(keys);
      await running.shows(shown);
    };
    await running.shows("anywire-demo> ");
    await type("ca\t", "call ");
    await type("ech\t", "call echo ");
    await type("up\t", "call echo upper=");
    await type("t\t", "call echo upper=true ");
    await type("te\t", "upper=true text=");
    await type("hi\r", "\r\nHI\r\n");
    await type("call cou\t", "call count ");
    await type("--log\t", "call count --log-level ");
    await type("emer\t", "--log-level emergency ");
    await type("to=1\r", "counted to 1");
    await type("prompt intr\t", "prompt introduce ");
    await type("wh\t", "prompt introduce who=");
    await type("Ad\t", "prompt introduce who=Ada ");
    await type("\r", "Introduce Ada ");
    await type("read demo://ab\t", "read demo://about ");
    await type("\r", "Any MCP client, any MCP server");
    await type("read demo://gen\t", "read demo://generated/");
    await type("1g\t", "read demo://generated/1gb ");
    running.child.stdin.write("\u0015exit\r");
    expect((await running.ended).code).toBe(0);
  });

  it("asks questions, keeps a history without the answers, and offers it the next time", async () => {
    const state = scratch();
    const running = shell(demo, state);
    await running.shows("anywire-demo> ");
    running.child.stdin.write("call greet\r");
    await running.shows("Name (required): ");
    running.child.stdin.write("Zenobia\r");
    await running.shows("Send? [Y/n/!] ");
    running.child.stdin.write("y\r");
    await running.shows("Hello, Zenobia!");
    running.child.stdin.write(" call echo text=secret\r");
    await running.shows("\r\nsecret\r\n");
    // Two up: the last line of this session is only here.
    running.child.stdin.write("\u001b[A\u001b[A\r");
    await running.shows(/Hello, Zenobia![\s\S]*Name \(required\): /);
    running.child.stdin.write("!\r");
    await running.shows("Hello, stranger!");
    running.child.stdin.write("\u0004");
    expect((await running.ended).code).toBe(0);
    const file = join(state, "anywire", "history");
    expect(readFileSync(file, "utf8")).toBe("call greet\ncall greet\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const second = shell(demo, state);
    await second.shows("anywire-demo> ");
    second.child.stdin.write("\u001b[A");
    await second.shows("anywire-demo> call greet");
    second.child.stdin.write("\u0015\u0004");
    expect((await second.ended).code).toBe(0);
  });

  it("--no-history keeps nothing", async () => {
    const state = scratch();
    const running = shell(["--no-history", ...demo], state);
    await running.shows("anywire-demo> ");
    running.child.stdin.write("ping\rexit\r");
    expect((await running.ended).code).toBe(0);
    expect(existsSync(join(state, "anywire"))).toBe(false);
  });

  it("cancels the call with Ctrl-C, and leaves with the second", async () => {
    const record = join(scratch(), "record");
    const running = shell(recorded(record));
    await running.shows("anywire-demo> ");
    running.child.stdin.write("call count to=100000 ms=20\r");
    await running.shows(/\d+ of 100000/);
    running.child.stdin.write("\u0003");
    await running.shows("anywire: cancelled");
    await until(() => readFileSync(record, "utf8").includes("cancelled count"));
    running.child.stdin.write("call echo text=again\r");
    await running.shows("\r\nagain\r\n");
    running.child.stdin.write("half a li\u0003");
    await running.shows("Ctrl-C again, or Ctrl-D, leaves.");
    running.child.stdin.write("\u0003");
    expect((await running.ended).code).toBe(130);
    const [, pid] = /pid (\d+)/.exec(readFileSync(record, "utf8")) ?? [];
    await until(() => !isAlive(Number(pid)));
  });
});

describe("a line as words", () => {
  it.each([
    ["call echo text=hi", ["call", "echo", "text=hi"]],
    [`a 'b c' "d \\"e\\"" f\\ g`, ["a", "b c", 'd "e"', "f g"]],
    [`args='{"a": "b"}'x ''`, [`args={"a": "b"}x`, ""]],
    ["  ", []],
    ["it's", undefined],
    ['"', undefined],
    ["\\", undefined],
  ])("%s", (line, words) => {
    expect(lineWords(line)).toEqual(words);
  });

  it("and back, and without end in time", () => {
    for (const word of ["plain", "two words", "it's", '"', "\\"]) expect(lineWords(typedWord(word))).toEqual([word]);
    expect(lineWords(`${"a".repeat(100_000)}'`)).toBeUndefined();
  });
});
