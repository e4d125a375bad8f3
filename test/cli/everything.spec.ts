import { describe, expect, it } from "vitest";
import { everything, jsonLines, run } from "./support.js";

describe("the client commands, on the reference server", () => {
  it("lists and calls", async () => {
    const { stdout, code } = await run(["tools", "--json", ...everything]);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toContainEqual(
      expect.objectContaining({ name: "echo", title: "Echo Tool", execution: { taskSupport: "forbidden" } }),
    );
    expect((await run(["call", "get-sum", "a=1", "b=2.5", ...everything])).stdout).toBe("The sum of 1 and 2.5 is 3.5.\n");
    expect((await run(["call", "get-structured-content", "location=New York", ...everything])).stdout).toMatch(/^\{\n {2}"temperature"/);
  });

  it("shows progress as lines where that is wanted", async () => {
    const { stderr, stdout } = await run(["call", "trigger-long-running-operation", "duration=1", "steps=2", "-v", ...everything]);
    expect(stdout).toContain("completed");
    expect(stderr).toContain("50% 1 of 2");
  });

  it("offers roots, refuses questions", async () => {
    expect((await run(["call", "get-roots-list", "--root", "src", ...everything])).stdout).toContain("/src");
    const refused = await run(["call", "trigger-elicitation-request", ...everything]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/^anywire: the server asks ".*", but there is no terminal to answer at: refused\n/);
  });

  it("reads, prompts, completes, watches", async () => {
    expect((await run(["read", "demo://resource/dynamic/text/7", ...everything])).stdout).toContain("Resource 7");
    const octets = await run(["read", "demo://resource/dynamic/blob/7", "--offset", "9", ...everything]);
    expect(octets.stdout).toMatch(/^7?: This is a base64 blob/);
    expect((await run(["prompt", "args-prompt", "city=Oslo", ...everything])).stdout).toBe("user: What's weather in Oslo?\n");
    expect((await run(["complete", "prompt:completable-prompt", "department", "E", ...everything])).stdout).toBe("Engineering\n");
    expect((await run(["ping", ...everything])).code).toBe(0);
  });

  it("gives one line for mistakes", async () => {
    expect(await run(["call", "get-summ", "a=1", ...everything])).toEqual({
      code: 1,
      stdout: "",
      stderr: 'anywire: the server has no tool "get-summ"; did you mean get-sum?\n',
    });
    expect(await run(["call", "get-sum", "a=1", "b=x", ...everything])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'anywire: b: expected number, got "x"\n',
    });
  });
});
