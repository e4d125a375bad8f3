import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, type Layer, serve } from "../../src/api/index.js";
import { redact } from "../../src/cli/session/redact.js";
import { redactText } from "../../src/core/index.js";
import { demoServer } from "../../src/demo/index.js";
import { demo, fixture, lines, run, scratch, start } from "./support.js";

const odd = ["--", process.execPath, fixture("odd.mjs")];

/** The lines of the log alone: a busy machine also shows what is being waited for. */
const logged = (stderr: string): string[] => lines(stderr).filter((line) => line.startsWith("wire  "));

/** The messages that -vv shows, as a server would record them. */
const shown = (stderr: string): string[] =>
  [...stderr.matchAll(/^wire {2}([→←]).*\nwire {6}(.*)$/gm)].map(([, arrow, body]) => `${arrow === "→" ? ">" : "<"} ${body}`);

/**
 * Each direction by itself: the two ends need not agree on what crossed first. Nobody waits for the answer to a log level, so the command
 * may end before it.
 */
function same(log: readonly string[], record: readonly string[]): void {
  for (const direction of ["> ", "< "]) {
    const messages = (all: readonly string[]): string[] =>
      all.filter((line) => line.startsWith(direction) && !line.includes("no logging/setLevel"));
    expect(messages(log)).toEqual(messages(record));
    expect(messages(record).length).toBeGreaterThan(2);
  }
}

describe("--verbose", () => {
  it("tells of each message: direction, call, method, size", async () => {
    const { stderr, stdout } = await run(["call", "echo", "text=hi", "--verbose", ...demo]);
    expect(stdout).toBe("hi\n");
    expect(logged(stderr).map((line) => line.replace(/[\d.]+ (B|kB|ms)/g, "N $1"))).toEqual([
      "wire  → #1 server/discover N B",
      "wire  ← #1 result N B in N ms",
      "wire  connected: 2026-07-28, modern era",
      "wire  → #2 tools/list N B",
      "wire  ← #2 result N kB in N ms",
      "wire  → #3 tools/call N B",
      "wire  ← #3 result N B in N ms",
    ]);
  });

  it.each(["legacy", "modern"])("shows what really crosses stdio: %s", async (era) => {
    const record = join(scratch(), "record");
    const server = ["--", process.execPath, fixture("raw-server.mjs"), record, era];
    const { stderr, stdout } = await run(["call", "echo", "text=hi", "-vv", "--era", era, ...server]);
    expect(stdout).toBe("hi\n");
    const crossed = lines(readFileSync(record, "utf8"));
    expect(crossed[0]).toContain(era === "legacy" ? '"method":"initialize"' : '"method":"server/discover"');
    same(shown(stderr), crossed);
  });

  it.each(["legacy", "modern"])("shows what really crosses HTTP: %s", async (era) => {
    const record = join(scratch(), "record");
    const server = start(process.execPath, [fixture("raw-server.mjs"), record, era, "http"]);
    let url = "";
    server.child.stdout.on("data", (text: string) => {
      url += text;
    });
    await server.shows("/mcp\n");
    const { stderr, stdout } = await run(["call", "echo", "text=hi", "-vv", "--era", era, url.trim()]);
    expect(stdout).toBe("hi\n");
    same(shown(stderr), lines(readFileSync(record, "utf8")));
  });

  it("shows bodies when it is given twice, and secrets never", async () => {
    const { stderr } = await run(["call", "leaks", "-vv", "apiKey=abc", "password=hunter2", "note=Bearer 12345678", ...odd]);
    expect(stderr).toContain(
      '"params":{"name":"leaks","arguments":{"apiKey":"[redacted]","password":"[redacted]","note":"Bearer [redacted]"}',
    );
    expect(stderr).toContain("Authorization: Bearer [redacted]");
    expect(stderr).not.toMatch(/hunter2|12345678|abc\.def|hush/);
    const once = await run(["call", "leaks", "-v", "apiKey=abc", ...odd]);
    expect(once.stderr).not.toContain("apiKey");
  });

  it("passes on the server's stderr", async () => {
    const { stderr } = await run(["ping", "-v", "--", "sh", "-c", 'echo "warming up" >&2; exec "$0" "$@"', ...demo.slice(1)]);
    expect(stderr).toContain("server| warming up\n");
  });

  it("knows secrets by name and by shape", () => {
    expect(
      redact({ token: "a", maxTokens: 5, progressToken: 1, nested: [{ Authorization: "x", auth: { user: "u", secret: 1 } }] }),
    ).toEqual({
      token: "[redacted]",
      maxTokens: 5,
      progressToken: 1,
      nested: [{ Authorization: "[redacted]", auth: "[redacted]" }],
    });
    expect(redactText("https://me:pw@host/?access_token=abc&x=1")).toBe("https://[redacted]@host/?access_token=[redacted]&x=1");
    expect(redactText("at https://ghp_1@host, ftp://a:b@c@host and http://me:p/w@host")).toBe(
      "at https://[redacted]@host, ftp://[redacted]@host and http://[redacted]@host",
    );
    expect(redactText("http://localhost:8080/@me?code=1&key=2&z=3")).toBe("http://localhost:8080/@me?code=[redacted]&key=[redacted]&z=3");
    // A schema says what a secret is called and looks like, not what it is.
    const schema = { type: "string", description: "yours", default: "hunter2" };
    expect(redact({ properties: { password: schema } })).toEqual({ properties: { password: { ...schema, default: "[redacted]" } } });
    expect(redact({ credentials: { type: "basic", value: ["hunter2"] }, properties: { secret: { value: { a: "hunter2" } } } })).toEqual({
      credentials: "[redacted]",
      properties: { secret: { value: "[redacted]" } },
    });
  });

  it("leaves layers to their order", async () => {
    const seen: string[] = [];
    const layer =
      (name: string): Layer =>
      (inner) => ({
        call: (request, context) => {
          if (request.method === "tools/call") seen.push(name);
          return inner.call(request, context);
        },
        notify: (notification, context) => inner.notify(notification, context),
      });
    await using _listener = await serve(demoServer(), "memory:layers");
    await using client = await connect("memory:layers", { layers: [layer("outer"), layer("inner")] });
    expect((await client.callTool("echo", { text: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
    expect(seen).toEqual(["outer", "inner"]);
  });
});
