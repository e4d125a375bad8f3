import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "../../src/cli/args/parse.js";
import { foreignPrograms, translate } from "../../src/cli/as/translate.js";
import { root, scratch } from "../cli/support.js";

/** What comes of it has to be a command line of ours. */
function translated(name: string, ...args: string[]): ReturnType<typeof translate> {
  const made = translate(name, args);
  expect(parse(made.args)).toMatchObject({ tag: "run", command: { name: "bridge" } });
  return made;
}
const argsOf = (name: string, ...args: string[]): readonly string[] => translated(name, ...args).args.slice(1);

describe("--as supergateway", () => {
  it("puts a command on SSE, as it does by default", () => {
    expect(argsOf("supergateway", "--stdio", "npx -y @modelcontextprotocol/server-filesystem '/tmp/a b'")).toEqual([
      ...["--listen", "sse+http://127.0.0.1:8000/sse", "--env", "*"],
      ...["--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/tmp/a b"],
    ]);
  });

  it("takes its other transports, ports and paths", () => {
    expect(
      argsOf("supergateway", "--stdio", "srv", "--outputTransport=streamableHttp", "--port", "9", "--streamableHttpPath", "/x"),
    ).toContain("http://127.0.0.1:9/x");
    expect(argsOf("supergateway", "--stdio", "srv", "--output-transport", "ws")).toContain("ws://127.0.0.1:8000/message");
    expect(argsOf("supergateway", "--sse", "https://h/sse", "--header", "a: 1", "b: 2", "--logLevel", "none")).toEqual([
      ...["--listen", "stdio:", "--header", "a: 1", "--header", "b: 2", "--to", "sse+https://h/sse", "--log", "none"],
    ]);
    expect(argsOf("supergateway", "--streamableHttp", "https://h/mcp")).toEqual(["--listen", "stdio:", "--to", "https://h/mcp"]);
  });

  it("takes origins, health paths and a token, which is no argument", () => {
    expect(argsOf("supergateway", "--stdio", "srv", "--cors")).toContain("*");
    expect(argsOf("supergateway", "--stdio", "srv", "--cors", "https://a", "https://b", "--healthEndpoint", "/up")).toEqual(
      expect.arrayContaining(["--allow-origin", "https://a", "https://b", "--health", "/up"]),
    );
    expect(() => translate("supergateway", ["--stdio", "srv", "--cors", "/a$/"])).toThrow("regular expression");
    const { args, env } = translated("supergateway", "--sse", "https://h/sse", "--oauth2Bearer", "s3cret");
    expect(args.join(" ")).not.toContain("s3cret");
    expect(env).toEqual({ SUPERGATEWAY_OAUTH2_BEARER: "s3cret" });
  });

  it("uses a shell only for what needs one", () => {
    const command = (line: string): readonly string[] => argsOf("supergateway", "--stdio", line).slice(5);
    expect(command("node server.js --port=1 a@b")).toEqual(["node", "server.js", "--port=1", "a@b"]);
    expect(command("cd /x && node y")).toEqual(["sh", "-c", "cd /x && node y"]);
    expect(command("KEY=1 node y")).toEqual(["sh", "-c", "KEY=1 node y"]);
    expect(command('node "$HOME/y"')).toEqual(["sh", "-c", 'node "$HOME/y"']);
  });

  it("says what has no effect, and refuses what it does not know", () => {
    expect(translated("supergateway", "--stdio", "srv", "--stateful").notes.join()).toContain("--stateful has no effect");
    expect(() => translate("supergateway", ["--stdio", "srv", "--prot", "1"])).toThrow("did you mean --port?");
    expect(() => translate("supergateway", [])).toThrow("one of --stdio");
    expect(() => translate("supergateway", ["--stdio", "srv", "--logLevel", "loud"])).toThrow("debug, info, none");
    expect(() => translate("supergatway", [])).toThrow("did you mean supergateway?");
    // An option of ours among them is none of theirs, and taken.
    expect(argsOf("supergateway", "--stdio", "srv", "--allow-host", "mcp.example.com")).toEqual(
      expect.arrayContaining(["--allow-host", "mcp.example.com"]),
    );
  });
});

describe("--as mcp-proxy", () => {
  it("takes its command with and without dashes, whose flags are its own", () => {
    const expected = ["--listen", "any://127.0.0.1:8080", "--env", "*", "--", "tsx", "server.ts", "--port", "3"];
    expect(argsOf("mcp-proxy", "tsx", "server.ts", "--port", "3")).toEqual(expected);
    expect(argsOf("mcp-proxy", "--", "tsx", "server.ts", "--port", "3")).toEqual(expected);
  });

  it("takes hosts, keys, times and one server of the two", () => {
    const { args, env, notes } = translated("mcp-proxy", "--host", "0.0.0.0", "--apiKey", "s3cret", "--requestTimeout", "1000", "srv");
    expect(args).toEqual(expect.arrayContaining(["any://0.0.0.0:8080", "--insecure", "--api-key-env", "--timeout", "1000ms"]));
    expect([env, args.join(" ").includes("s3cret")]).toEqual([{ MCP_PROXY_API_KEY: "s3cret" }, false]);
    expect(notes).toEqual([]);
    expect(argsOf("mcp-proxy", "--server", "sse", "--sseEndpoint", "/e", "--port=1", "srv")).toContain("sse+http://127.0.0.1:1/e");
    expect(argsOf("mcp-proxy", "--stateless", "--shell", "a", "b")).toEqual(expect.arrayContaining(["--stateless", "sh", "-c", "a b"]));
    expect(argsOf("mcp-proxy", "--upstreamProtocol", "modern", "--maxBodySize", "0", "srv")).toEqual(
      expect.arrayContaining(["--era", "modern", "--max-body", "1gib"]),
    );
  });

  it("says what has no effect, and refuses what cannot be had", () => {
    expect(translated("mcp-proxy", "--no-eventStore", "srv").notes.join()).toContain("--eventStore has no effect");
    expect(() => translate("mcp-proxy", ["--tunnel", "srv"])).toThrow("no public tunnel");
    // Its server trusts that authority, and asks nobody for a certificate.
    const { args, notes } = translated("mcp-proxy", "--sslCa", "ca.pem", "--sslCert", "c.pem", "--sslKey", "k.pem", "srv");
    expect([args.includes("--tls-ca"), notes.join()]).toEqual([false, expect.stringContaining("--sslCa has no effect")]);
  });
});

describe("--as mcp-remote", () => {
  it("brings a URL to stdin and stdout", () => {
    process.env["AS_SPEC_TOKEN"] = "t0ken";
    expect(
      argsOf("mcp-remote", "https://h/sse", "9696", "--header", `Authorization:${"$"}{AS_SPEC_TOKEN}`, "--transport", "sse-only"),
    ).toEqual([
      ...["--listen", "stdio:", "--callback-url", "http://localhost:9696/oauth/callback", "--to", "sse+https://h/sse"],
      ...["--header", "Authorization:t0ken"],
    ]);
    expect(argsOf("mcp-remote", "https://h/mcp", "--host", "127.0.0.1", "--callback-path", "/back")).toContain("http://127.0.0.1/back");
    expect(argsOf("mcp-remote", "https://h/mcp", "--ignore-tool", "delete*", "--protocol", "auto")).toEqual(
      expect.arrayContaining(["--deny-tool", "(?i)delete*", "--era", "auto", "https://h/mcp"]),
    );
    // Its only wildcard is the asterisk.
    expect(argsOf("mcp-remote", "https://h/mcp", "--ignore-tool", "a?{b}")).toContain("(?i)a\\?\\{b\\}");
  });

  it("says which variable of a header is not set", () => {
    process.env["AS_SPEC_TOKEN"] = "t0ken";
    const [set, none] = ["$".concat("{AS_SPEC_TOKEN}"), "$".concat("{AS_SPEC_NONE}")];
    const { notes } = translated("mcp-remote", "https://h/mcp", "--header", `A: ${set} ${none}`, "--header", `B: ${none}`);
    expect(notes).toEqual([`a header names ${none}, and no such variable is set; it is sent without it`]);
  });

  it("takes a client that is known, from the line or a file, and headers from a file", () => {
    const file = join(scratch(), "client.json");
    writeFileSync(file, '{"client_id":"me","client_secret":"s3cret"}');
    const { args, env } = translated("mcp-remote", "https://h/mcp", "--static-oauth-client-info", `@${file}`, "--client-credentials");
    expect(args).toEqual(expect.arrayContaining(["--client-id", "me", "--client-secret-env", "--client-credentials"]));
    expect([env, args.join(" ").includes("s3cret")]).toEqual([{ MCP_REMOTE_CLIENT_SECRET: "s3cret" }, false]);
    expect(() => translate("mcp-remote", ["https://h/mcp", "--static-oauth-client-info", "{s3cret"])).toThrow(/takes a JSON object/);
    const headers = join(scratch(), "headers");
    writeFileSync(headers, "# mine\nX-A: 1\n\nX-B: 2\n");
    expect(argsOf("mcp-remote", "https://h/mcp", "--header-file", headers).slice(-4)).toEqual(["--header", "X-A: 1", "--header", "X-B: 2"]);
    expect(() => translate("mcp-remote", ["https://h/mcp", "--device-code"])).toThrow("--token-env");
  });
});

describe("docs/guide/switching.md", () => {
  it.each(foreignPrograms.map((program) => [program.name, program] as const))(
    "has the flags of %s, as the code has them",
    (name, program) => {
      const page = readFileSync(join(root, "docs/guide/switching.md"), "utf8");
      const [, section = ""] = page.split(`## ${name} ${program.version}\n`);
      const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `--([^`]+)` \| (.+) \|$/gm)].map(([, flag, what]) => [flag, what]);
      expect(rows).toEqual(
        program.flags.map((flag) => [
          flag.name,
          flag.refused !== undefined
            ? `refused: ${flag.refused}`
            : flag.ignored !== undefined
              ? `no effect: ${flag.ignored}`
              : shown(flag.ours),
        ]),
      );
    },
  );
});

function shown(ours = ""): string {
  return ours.includes("`") || !ours.startsWith("--") ? ours : `\`${ours}\``;
}
