import { describe, expect, it } from "vitest";
import { anywire, demo, jsonLines, lines, run, script, start } from "./support.js";

describe("the client commands, on the demo", () => {
  it("tools: entries for people, the tools as they are for programs", async () => {
    const people = await run(["tools", ...demo]);
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(people.stdout).toMatch(/^ {2}echo +Gives back a text\n +text=<string> \[times=<integer>\] \[upper=<boolean>\]\n/);
    expect(Math.max(...lines(people.stdout).map((line) => line.length))).toBeLessThanOrEqual(80);
    const programs = await run(["--json", "tools", ...demo]);
    expect(jsonLines(programs.stdout)).toContainEqual({
      name: "greet",
      description: "Asks for your name, then greets you",
      inputSchema: { type: "object" },
    });
  });

  it("tools <name>: one tool whole, and how to call it", async () => {
    const { stdout } = await run(["tools", "echo", ...demo]);
    expect(stdout).toMatch(/^echo\nGives back a text\n\nanywire call echo text=<string> \[times=<integer>\] /);
    expect(stdout).toContain('inputSchema\n{\n  "type": "object",');
    const programs = await run(["tools", "echo", "--json", ...demo]);
    expect(jsonLines(programs.stdout)).toEqual([expect.objectContaining({ name: "echo" })]);
    expect(await run(["tools", "ech", ...demo])).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean echo?") });
  });

  it("with --json a fault is a line of JSON too, with code and data", async () => {
    const { stdout, stderr } = await run(["read", "demo://nothing", "--json", ...demo]);
    expect(jsonLines(stdout)).toEqual([
      {
        error: {
          code: -32602,
          reason: "invalid-params",
          message: expect.stringContaining("demo://nothing"),
          data: { uri: "demo://nothing" },
        },
      },
    ]);
    expect(stderr).toContain("demo://nothing");
    const crashed = await run(["tools", "--json", ...script('throw new Error("no API key")')]);
    expect(crashed.stderr).toMatch(/anywire: the server exited with code 1: Error: no API key\n$/);
    expect(jsonLines(crashed.stdout)).toMatchObject([{ error: { reason: "unavailable", data: { reason: "exited", code: 1 } } }]);
  });

  it("tools: the first is printed before the last is made", async () => {
    const running = start(process.execPath, [anywire, "tools", "--json", ...demo, "--many-tools", "1000000000"]);
    await running.shows('"name":"tool-000000000"');
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });

  it("call: typed by the schema, options before and after the words", async () => {
    expect(await run(["call", "echo", "text=hi", "times=2", "upper=true", ...demo])).toEqual({ code: 0, stdout: "HI\nHI\n", stderr: "" });
    const { stdout } = await run(["call", "--json", "weather", "city=Oslo", "days=Mon", "days=Tue", ...demo]);
    expect(jsonLines(stdout)).toEqual([
      expect.objectContaining({ structuredContent: { city: "Oslo", celsius: 6.3, sky: "rain", days: ["Mon", "Tue"] } }),
    ]);
  });

  it("call: --args as JSON and from stdin, with key=value on top", async () => {
    expect((await run(["call", "echo", "times=1", "--args", '{"text":"a","times":3}', ...demo])).stdout).toBe("a\n");
    expect((await run(["call", "echo", "--args", "-", ...demo], { stdin: '{"text":"in"}' })).stdout).toBe("in\n");
    // Unchecked: the server judges, and its tool says what is wrong.
    const judged = await run(["call", "echo", "--args", "{}", ...demo]);
    expect(judged.code).toBe(3);
    expect(judged.stderr).toContain("text");
  });

  it("call: events as lines, the result last", async () => {
    const { stdout, code } = await run(["call", "count", "to=2", "ms=1", "--events", ...demo]);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([
      { progress: { progress: 1, total: 2, message: "1 of 2" } },
      { progress: { progress: 2, total: 2, message: "2 of 2" } },
      expect.objectContaining({ content: [{ type: "text", text: "counted to 2" }] }),
    ]);
    const silent = await run(["call", "stream-logs", "entries=2", "ms=1", "--json", ...demo]);
    expect(jsonLines(silent.stdout)).toHaveLength(1);
    expect(silent.stderr).toBe("");
  });

  it("call: log entries on stderr, by level", async () => {
    const { stdout, stderr } = await run(["call", "stream-logs", "ms=1", "--log-level", "warning", ...demo]);
    expect(stdout).toBe("5 entries written\n");
    expect(stderr).toBe('warning demo: {"entry":4,"of":5}\nerror demo: {"entry":5,"of":5}\n');
  });

  it("call: content that is no text is named", async () => {
    const { stdout } = await run(["call", "attachments", ...demo]);
    expect(stdout).toContain("[resource <demo://note> text/plain]\nThis note came along.\n[link 1 GB <demo://generated/1gb>");
    expect((await run(["call", "sound", ...demo])).stdout).toBe("[audio audio/wav 2.0 kB]\n");
  });

  it("call: roots that were offered", async () => {
    const { stdout } = await run(["call", "list-roots", "--root", "src", "--root", "test", ...demo]);
    expect(stdout).toMatch(/^src {2}file:\/\/.*\/src\ntest {2}file:\/\/.*\/test\n$/);
  });

  it("call: a tool's error and a fault have exit codes of their own, in both eras", async () => {
    for (const era of ["legacy", "modern"]) {
      const error = await run(["call", "fail", "--era", era, ...demo]);
      expect(error).toEqual({ code: 3, stdout: "", stderr: "it broke, as asked for\nanywire: the tool reported an error\n" });
      const fault = await run(["call", "fail", "how=fault", "--era", era, ...demo]);
      expect(fault).toEqual({ code: 1, stdout: "", stderr: "anywire: a fault, as asked for\n" });
    }
  });

  it("resources, prompts, prompt, complete, discover", async () => {
    expect((await run(["resources", ...demo])).stdout).toMatch(/demo:\/\/file +A file of 64 MiB.*\n +text\/plain, 67 MB/);
    expect(jsonLines((await run(["resources", "--templates", "--json", ...demo])).stdout)).toHaveLength(1);
    expect((await run(["prompts", ...demo])).stdout).toContain("who=<string> Whom");
    expect((await run(["prompt", "introduce", "who=Ada", "tone=dry", ...demo])).stdout).toBe(
      "user: Introduce Ada in one sentence, in a dry tone.\n",
    );
    expect((await run(["complete", "prompt:introduce", "who", "a", ...demo])).stdout).toBe("Ada\nAlan\n");
    expect((await run(["complete", "prompt:introduce", "tone", "who=Ada", ...demo])).stdout).toBe("poetical\nprecise\n");
    const { stdout } = await run(["complete", "demo://generated/{size}", "size", "1g", "--json", ...demo]);
    expect(jsonLines(stdout)).toEqual([{ values: ["1gb"], total: 1, hasMore: false }]);
    expect((await run(["discover", ...demo])).stdout).toMatch(
      /server +Anywire demo anywire-demo 0\.1\.0\n +protocol +2026-07-28, modern era/,
    );
  });

  it("ping: as often as said", async () => {
    const { stdout, code } = await run(["ping", "--count", "3", "--json", "--era", "legacy", ...demo]);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([1, 2, 3].map((seq) => ({ seq, ms: expect.any(Number) })));
  });

  it("watch: the changes as they come, in both eras", async () => {
    for (const era of ["legacy", "modern"]) {
      const { stdout, code } = await run(["watch", "demo://cl*", "--initial", "--count", "2", "--json", "--era", era, ...demo]);
      expect(code).toBe(0);
      expect(jsonLines(stdout)).toEqual([
        { uri: "demo://clock", change: "initial" },
        { uri: "demo://clock", change: "modified" },
      ]);
    }
  });
});
