import { describe, expect, it } from "vitest";
import { parse } from "../../src/cli/args/parse.js";
import { demo, lines, run, script } from "./support.js";

type Row = readonly [args: readonly string[], says: string | RegExp];

/** Command lines that cannot be read, and the one line that they get. */
const unread: readonly Row[] = [
  [["tool", ...demo], 'unknown command "tool"; did you mean tools?'],
  [["frobnicate"], 'unknown command "frobnicate"; anywire --help lists the commands'],
  [["tools", "--jsn", ...demo], "unknown option --jsn; did you mean --json?"],
  [["tools", "-x", ...demo], "unknown option -x; see anywire tools --help"],
  [["ping", "--args", "{}", ...demo], "ping has no option --args; see anywire ping --help"],
  [["tools", "--timeout", "5", ...demo], '--timeout takes a duration such as 500ms, 30s or 2m, not "5"'],
  [["tools", "--timeout", "--json", ...demo], "--timeout needs a value: --timeout <duration>"],
  [["tools", "--era", "moden", ...demo], '--era takes one of auto, legacy, modern, not "moden"'],
  [["tools", "--json=yes", ...demo], "--json takes no value"],
  [["tools"], /^what to talk to is missing: end with a URL, or with -- and the command/],
  [["call", "echo", "text=x"], /^what to talk to is missing.*\(anywire call echo text=x -- <command\.\.\.>\)$/],
  [["read", "demo://about"], /^what to talk to is missing/],
  [["tools", "node", "server.js"], "to start a command put -- before it: anywire tools -- node server.js"],
  [["tools", "example.com/mcp"], /^what to talk to is missing.*; if example\.com\/mcp is a URL, write https:\/\/example\.com\/mcp$/],
  [["bridge", "example.com/mcp"], /^to start a command put -- .*; if example\.com\/mcp is a URL, write https:\/\/example\.com\/mcp$/],
  [["call", "echo", "a=1", "node", "server.js"], "to start a command put -- before it: anywire call echo a=1 -- node server.js"],
  [["tools", "localhost:8000"], "localhost:8000 lacks its scheme: http://localhost:8000, grpc://localhost:8000 or another of a wire"],
  [["call", "echo", "text=x", "127.0.0.1:8000/mcp"], /^127\.0\.0\.1:8000\/mcp lacks its scheme: http:\/\/127\.0\.0\.1:8000\/mcp, /],
  [["tools", "--"], "after -- comes the command that starts the server"],
  [["call", ...demo], /^<tool> is missing; for example: anywire call /],
  [["call", "echo", "text", ...demo], '"text" is not key=value'],
  [["call", "echo", '{"text":1}', ...demo], '"{\\"text\\":1}" is not key=value; JSON goes into --args'],
  [["call", "echo", "--text", "x", ...demo], "unknown option --text; arguments are written text=…"],
  [
    ["tools", "-y", "some-server"],
    /^unknown option -y; an option of the command that starts the server goes after --: anywire tools -- npx -y/,
  ],
  [["ping", "twice", ...demo], 'anywire ping has no use for "twice"'],
  [["completion", "fsh"], '"fsh" is none of bash, zsh, fish; did you mean zsh?'],
];

/** Command lines that can be read and are wrong all the same. */
const misused: readonly Row[] = [
  [["tools", "ftp://example.com"], /^no wire for the address "ftp:\/\/example\.com"; known are .*; a command to start goes after --$/],
  [["tools", "stdio:"], /^stdio: is for listening; /],
  [["tools", "http://127.0.0.1:99999/mcp"], "not a URL: http://127.0.0.1:99999/mcp"],
  [["tools", "ws://"], "not a URL: ws://"],
  [["tools", "grpc://host:99999"], 'not a gRPC address: grpc://host:99999: "host:99999" is no host and port'],
  [["demo", "--listen", "grpcs://127.0.0.1:0"], "listening on grpcs:// needs a certificate: give --tls-cert and --tls-key"],
  [["demo", "--listen", "http://0.0.0.0:0"], /: give --tls-cert and --tls-key, or --insecure if a proxy in front does it$/],
  [["demo", "--listen", "ftp://example.com"], /^--listen: no wire for the address "ftp:\/\/example\.com"; known are .*stdio:/],
  [["demo", "--listen", "memory:x"], /^--listen memory: reaches nobody/],
  [["call", "list-roots", "--root", "no-such-dir", ...demo], "--root: there is no directory no-such-dir"],
  [["tools", "--env", "NO_SUCH_VARIABLE", ...demo], "--env NO_SUCH_VARIABLE: no such variable is set"],
  [["call", "echo", "--args", "{", ...demo], /^--args is not JSON: /],
  [["call", "echo", "--args", "[1]", ...demo], "--args must be a JSON object, such as '{\"key\": 1}'"],
  [["call", "echo", "--args", "@/no/such", ...demo], "--args: cannot read /no/such (ENOENT)"],
  [["call", "echo", "txt=x", ...demo], "the tool has no argument txt; did you mean text?"],
  [["call", "echo", "text=x", "times=two", ...demo], 'times: expected integer, got "two"'],
  [["call", "echo", "text=x", "text=y", ...demo], 'text: expected string, once, got ["x","y"]'],
  [["call", "echo", ...demo], "missing text=<string>"],
  [["prompt", "introduce", ...demo], "missing who=<string>"],
  [["prompt", "introduce", "whom=Ada", ...demo], "the prompt has no argument whom; did you mean who?"],
  [["read", "demo://about", "-o", "/no/such/file", ...demo], "-o /no/such/file: there is no directory /no/such"],
];

const told = (says: string | RegExp): unknown => (typeof says === "string" ? says : expect.stringMatching(says));

describe("mistakes", () => {
  it.each(unread)("%j", (args, says) => {
    expect(parse(args)).toEqual({ tag: "misuse", message: told(says) });
  });

  it.each(misused)("%j, by the command itself", async (args, says) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(lines(stderr)).toHaveLength(1);
    expect(stderr.replace(/^anywire: /, "").trimEnd()).toEqual(told(says));
  });

  it("are told on stderr, with exit code 2", async () => {
    expect(await run(["tool"])).toEqual({ code: 2, stdout: "", stderr: 'anywire: unknown command "tool"; did you mean tools?\n' });
  });

  it("names that the server does not have", async () => {
    expect((await run(["call", "ecko", ...demo])).stderr).toBe('anywire: the server has no tool "ecko"; did you mean echo?\n');
    expect((await run(["prompt", "zzz", ...demo])).stderr).toBe('anywire: the server has no prompt "zzz"; anywire prompts lists them\n');
    expect(await run(["read", "demo://abuot", ...demo])).toEqual({
      code: 1,
      stdout: "",
      stderr: "anywire: the server has no resource demo://abuot; did you mean demo://about?\n",
    });
    expect((await run(["complete", "demo://generate/{size}", "size", ...demo])).stderr).toBe(
      "anywire: the server has no resource template demo://generate/{size}; did you mean demo://generated/{size}?\n",
    );
    expect((await run(["read", "other://thing", ...demo])).stderr).toBe("anywire: resource not found: other://thing\n");
  });

  it("servers that cannot be started, die, or speak something else", async () => {
    expect(await run(["tools", "--", "no-such-command"])).toEqual({
      code: 4,
      stdout: "",
      stderr: "anywire: cannot start `no-such-command`: command not found; check its name, or give its path\n",
    });
    const dying = await run(["tools", ...script('console.error("first"); console.error("boom: no config"); process.exit(3)')]);
    expect(dying).toMatchObject({ code: 4, stdout: "" });
    // A server that ends when it is probed is started once more, and not probed: this one ends all the same.
    expect(dying.stderr).toMatch(/^server\| first\nserver\| boom: no config\nanywire: the server exited with code 3: boom: no config\n$/);
    const garbage = await run(["tools", ...script('console.log("Hello, I am a server")')]);
    expect(garbage.code).toBe(4);
    expect(garbage.stderr).toMatch(
      /^anywire: the server exited with code 0; it printed on stdout what is not an MCP message \(.*Hello, I am.*\)\n$/,
    );
  });

  it("a server that dies in the middle of a call", async () => {
    const { code, stderr } = await run([
      "call",
      "count",
      "to=100",
      ...script(`
      setTimeout(() => { console.error("out of luck"); process.exit(7); }, 1500);
      process.argv = [process.argv[0], ${JSON.stringify(demo[2])}, "demo"];
      import(${JSON.stringify(demo[2])});
    `),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("anywire: the server exited with code 7: out of luck\n");
  });
});
