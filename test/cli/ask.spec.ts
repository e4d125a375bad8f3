import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { ElicitParams, ElicitResult } from "../../src/api/index.js";
import { askPerson } from "../../src/cli/ask/elicit.js";
import { askTerminal } from "../../src/cli/ask/terminal.js";
import { screen } from "../../src/cli/out/screen.js";
import { styleFor } from "../../src/cli/out/style.js";
import { demo, fixture, hasTerminal, onTerminal, run } from "./support.js";

interface Asked {
  readonly answer: Promise<ElicitResult>;
  shown(): string;
}

/** Puts a question to someone who types these lines, and nothing after them. */
function ask(params: ElicitParams, typed: readonly string[], signal = new AbortController().signal): Asked {
  const input = new PassThrough();
  let shown = "";
  const out = { isTTY: false, columns: 80, write: (text: string) => (shown += text) !== "" };
  const at = askTerminal(
    () => createInterface({ input, terminal: false }),
    screen(out as never, { style: styleFor(out, {}), meterLines: false }),
  );
  for (const line of typed) input.write(`${line}\n`);
  if (!signal.aborted && typed.length > 0) input.end();
  const answer = Promise.resolve(askPerson(at)(params, { signal, progress: () => {} })).finally(() => at.close());
  return { answer, shown: () => shown };
}

const form = (properties: Record<string, object>, required: readonly string[] = []): ElicitParams => ({
  message: "Well?",
  requestedSchema: { type: "object", properties, required },
});

describe("a form", () => {
  it("asks each field by its type, and again until it fits", async () => {
    const { answer, shown } = ask(
      form(
        {
          name: { type: "string", title: "Your name", description: "As on the door", minLength: 2 },
          age: { type: "integer", minimum: 0, maximum: 150 },
          share: { type: "number" },
          sure: { type: "boolean" },
          mail: { type: "string", format: "email" },
          born: { type: "string", format: "date" },
        },
        ["name"],
      ),
      ["", "A", "Ada", "old", "1.5", "200", "36", "0.5", "maybe", "yes", "nobody", "a@b.c", "2026-02-30x", "1815-12-10", "y"],
    );
    expect(await answer).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, share: 0.5, sure: true, mail: "a@b.c", born: "1815-12-10" },
    });
    expect(shown()).toContain("As on the door");
    expect(shown()).toContain("Your name (required): ");
    for (const problem of [
      "this one is required",
      "characters: 2 at least",
      "a number, please",
      "a whole number, please",
      "150 at most",
      "answer yes or no",
      "such as name@example.com",
      "such as 2026-07-28",
    ])
      expect(shown()).toContain(problem);
    expect(shown()).not.toContain("\u001b");
  });

  it("takes choices by number, value or title, one or several, as every revision writes them", async () => {
    const { answer, shown } = ask(
      form({
        one: { type: "string", enum: ["r", "g"] },
        two: {
          type: "string",
          oneOf: [
            { const: "r", title: "Red" },
            { const: "g", title: "Green" },
          ],
        },
        three: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
        four: { type: "array", items: { enum: ["r", "g", "b"] }, maxItems: 2 },
        five: {
          type: "array",
          items: {
            anyOf: [
              { const: "r", title: "Red" },
              { const: "g", title: "Green" },
            ],
          },
        },
      }),
      ["x", "2", "Green", "r", "1,2,3", "1,b", "Red, g", ""],
    );
    expect(await answer).toEqual({ action: "accept", content: { one: "g", two: "g", three: "r", four: ["r", "b"], five: ["r", "g"] } });
    expect(shown()).toContain("  2) Green (g)");
    expect(shown()).toContain("as many as 2 at most");
  });

  it("keeps defaults, leaves out what is optional, and starts over", async () => {
    const fields = {
      a: { type: "string", default: "x" },
      b: { type: "integer", default: 3 },
      c: { type: "string" },
      d: { type: "string" },
    };
    const { answer } = ask(form(fields), ["", "", "", "no", "n", "y", "-", "\\-", "\\!", "y"]);
    expect(await answer).toEqual({ action: "accept", content: { a: "y", c: "-", d: "!" } });
  });

  it("is declined with one key, and cancelled by the end of input", async () => {
    expect(await ask(form({ a: { type: "string" } }, ["a"]), ["!"]).answer).toEqual({ action: "decline" });
    expect(await ask(form({ a: { type: "string" } }), ["x", "!"]).answer).toEqual({ action: "decline" });
    expect(await ask(form({ a: { type: "string" } }, ["a"]), [""]).answer).toEqual({ action: "cancel" });
    expect(await ask({ message: "Really?" }, ["n"]).answer).toEqual({ action: "decline" });
    expect(await ask({ message: "Really?" }, ["y"]).answer).toEqual({ action: "accept", content: {} });
  });

  it("ends when the server withdraws it", async () => {
    const abort = new AbortController();
    const { answer } = ask(form({ a: { type: "string" } }), [], abort.signal);
    setImmediate(() => abort.abort());
    await expect(answer).rejects.toMatchObject({ code: "cancelled" });
  });

  it("shows a stranger's words as words", async () => {
    const { answer, shown } = ask({ message: "\u001b[2Jtrust me\u202e" }, ["!"]);
    await answer;
    expect(shown()).toContain("The server asks: \\u001b[2Jtrust me\\u202e");
  });
});

describe("a page", () => {
  const page = (url: string): ElicitParams => ({ mode: "url", message: "Sign in", url });

  it("is shown whole and agreed to, never opened", async () => {
    const { answer, shown } = ask(page("https://xn--bcher-kva.example/a?b=c#d"), ["y"]);
    expect(await answer).toEqual({ action: "accept" });
    expect(shown()).toContain("site  xn--bcher-kva.example\n  page  https://xn--bcher-kva.example/a?b=c#d\n");
    expect(ask(page("https://bücher.example/"), [""]).answer).toBeDefined();
    expect(await ask(page("https://e.example/"), [""]).answer).toEqual({ action: "decline" });
  });

  it("is refused if it is none", async () => {
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "no url", "ftp://e.example/"]) {
      const { answer, shown } = ask(page(url), ["y"]);
      await expect(answer).rejects.toMatchObject({ code: "denied" });
      expect(shown()).toContain("that is no web page");
    }
  });
});

describe("without a terminal", () => {
  it("questions are refused with a clear word", async () => {
    for (const era of ["legacy", "modern"]) {
      const { code, stdout, stderr } = await run(["call", "greet", "--era", era, ...demo]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^anywire: the server asks "What is your name\?", but there is no terminal to answer at: refused\n/);
    }
  });
});

// Where there is no pseudo-terminal to be had, what it would show is covered by the tests above through streams.
if (hasTerminal) {
  describe("at a terminal", () => {
    it("a form is filled in", async () => {
      const running = onTerminal(["call", "greet", ...demo]);
      await running.shows("Name");
      running.child.stdin.write("Ada\n");
      await running.shows("Send?");
      running.child.stdin.write("\n");
      const { code, stdout } = await running.ended;
      expect(code).toBe(0);
      expect(stdout).toContain("Hello, Ada!");
    });

    it("a page is agreed to; one that is none is refused", async () => {
      const running = onTerminal(["call", "sign-in", ...demo]);
      await running.shows("Agree? [y/N]");
      running.child.stdin.write("y\n");
      expect((await running.ended).stdout).toContain("Signed in");
      const refused = onTerminal(["call", "page", "url=javascript:alert(1)", "--", process.execPath, fixture("odd.mjs")]);
      expect((await refused.ended).stdout).toContain("refused: only http and https addresses are shown");
    });

    it("Ctrl-C ends the question and the command", async () => {
      const running = onTerminal(["call", "greet", ...demo]);
      await running.shows("Name");
      running.child.stdin.write("\u0003");
      expect((await running.ended).code).toBe(130);
    });

    it("progress is a bar that goes away, octets are kept from the screen, escape codes of others are shown as text", async () => {
      const counting = await onTerminal(["call", "count", "to=4", "ms=120", ...demo]).ended;
      expect(counting.stdout).toMatch(/\r\[#+\.+\] +\d+% \d of 4/);
      expect(counting.stdout).toMatch(/\r +\rcounted to 4\r\n$/);
      const octets = await onTerminal(["read", "demo://picture", ...demo]).ended;
      expect([octets.code, octets.stdout]).toEqual([2, expect.stringContaining("save it with -o <file>")]);
      const odd = ["--", process.execPath, fixture("odd.mjs")];
      expect((await onTerminal(["call", "colours", ...odd]).ended).stdout).toBe("\\u001b[2Jgone\r\n");
    });

    it("colours are for terminals that want them", async () => {
      expect((await onTerminal(["tools", ...demo]).ended).stdout).toContain("\u001b[1mecho\u001b[22m");
      expect((await onTerminal(["tools", ...demo], { NO_COLOR: "1" }).ended).stdout).not.toContain("\u001b");
    });
  });
}

describe("into a pipe", () => {
  it("there are no codes in lists, and results are what the server sent", async () => {
    const odd = ["--", process.execPath, fixture("odd.mjs")];
    const list = await run(["tools", ...odd]);
    expect(list.stdout).toContain("\\u001b[31mred\\u001b[0m\\u202e and reversed");
    expect((await run(["call", "colours", ...odd])).stdout).toBe("\u001b[2Jgone\n");
    expect((await run(["tools", "--json", ...odd])).stdout).toContain('"com.example/kept":[null,false]');
  });
});
