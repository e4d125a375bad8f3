import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { type Command, connect, createServer, type JsonObject, type McpClient } from "../../src/api/index.js";
import { fixturePath } from "../fixtures/children/index.js";
import { children, nobodyLeft } from "../fixtures/processes.js";
import { envelope, opener, rawMemory, rawStdio, request } from "../fixtures/raw.js";

const folder = mkdtempSync(join(tmpdir(), "anywire-security-"));
const marker = join(folder, "ran");
afterAll(() => rmSync(folder, { recursive: true }));

const opened: McpClient[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
  await nobodyLeft();
  expect(existsSync(marker)).toBe(false);
});
async function open(command: Partial<Command> = {}): Promise<McpClient> {
  const client = await connect({ command: process.execPath, ...command, args: [fixturePath("../secured.mjs"), ...(command.args ?? [])] });
  opened.push(client);
  return client;
}
const shown = async (client: McpClient): Promise<{ env: Record<string, string>; argv: string[]; pid: number }> =>
  (await client.callTool("process")).structuredContent as never;

describe("34. remote input names no command, argument or environment", () => {
  const injections = [
    `; touch ${marker}`,
    `$(touch ${marker})`,
    `\`touch ${marker}\``,
    `| touch ${marker}`,
    `& touch ${marker} &`,
    `\ntouch ${marker}\n`,
    "*",
    "~",
    "$HOME",
    "%PATH%",
    "'\"\\",
    "",
    "--eval=process.exit(1)",
  ];

  test("arguments and values reach the child as they are: there is no shell", async () => {
    const client = await open({ args: injections, env: { INJECTED: injections.join(" ") } });
    const { argv, env } = await shown(client);
    expect(argv).toEqual(injections);
    expect(env["INJECTED"]).toBe(injections.join(" "));
  });

  test("a command is a name of a file, not a line of a shell, and its arguments are in no message", async () => {
    for (const command of [`${process.execPath} -e 1`, `true; touch ${marker}`, `$(touch ${marker})`, "", " "]) {
      const dialing = connect({ command, args: ["--token", "s3cret"], env: { TOKEN: "s3cret" } });
      const fault = (await dialing.catch((error: unknown) => error)) as Error;
      expect(fault).toMatchObject({ name: "Fault", code: "unavailable" });
      expect(`${fault.message} ${fault.stack} ${JSON.stringify(fault)} ${String(fault.cause)}`).not.toContain("s3cret");
    }
  });

  test("no address that is text starts anything", async () => {
    const addresses = [
      "stdio:",
      `stdio:touch ${marker}`,
      `stdio:;touch ${marker}`,
      `sh -c 'touch ${marker}'`,
      `touch ${marker}`,
      `-- touch ${marker}`,
      "file:///bin/true",
      "",
    ];
    for (const address of addresses) await expect(connect(address)).rejects.toMatchObject({ name: "Fault" });
    expect(children()).toEqual([]);
  });

  const parts = { command: "touch", args: [marker], env: { PATH: folder }, cwd: folder, shell: true, inherit: ["HOME"] };
  const requests: readonly JsonObject[] = [
    request(1, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { ...parts, experimental: parts },
      clientInfo: { name: "x", version: "1", ...parts },
      ...parts,
    }),
    request(2, "tools/call", {
      name: "echo",
      arguments: parts,
      ...parts,
      _meta: envelope(parts, { ...parts, "dev.anywire/chunked": parts }),
    }),
    request(3, "server/discover", { ...parts, _meta: envelope({ stdio: parts }) }),
    request(4, "dev.anywire/ambient", { ...parts, _meta: envelope() }),
    request(5, "dev.anywire/dial", { address: parts, _meta: envelope() }),
    request(6, "resources/read", { uri: `stdio:touch ${marker}`, ...parts, _meta: envelope() }),
    request(7, "resources/read", { uri: `file://${marker}`, _meta: envelope() }),
  ];

  test("no request does, on stdio", async () => {
    const raw = openStdio();
    raw.send(...requests);
    for (const { id } of requests) await raw.response(id as number);
    expect(children(raw.pid)).toEqual([]);
    raw.send(request(8, "tools/call", { name: "process", _meta: envelope() }));
    const { structuredContent } = (await raw.response(8))["result"] as { structuredContent: { env: Record<string, string> } };
    expect(structuredContent.env["PATH"]).toBe(process.env["PATH"]);
  });
  const openStdio = opener(() => rawStdio({}, fixturePath("../secured.mjs"), []));

  test("no request does, on memory", async () => {
    const server = createServer({ name: "plain", version: "1" })
      .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
      .resource({ uri: "test://x", name: "x" }, () => "x");
    const raw = openMemory(server);
    raw.send(...requests);
    for (const { id } of requests) await raw.response(id as number);
    expect(children()).toEqual([]);
  });
  const openMemory = opener((server: Parameters<typeof rawMemory>[0]) => rawMemory(server));

  test("the ambient call of the edges cannot be made from outside", async () => {
    const raw = openStdio();
    raw.send(requests[3] as JsonObject);
    expect(await raw.response(4)).toMatchObject({ error: { code: -32601 } });
  });
});

describe("38. a child sees nothing of its parent's environment but what it may", () => {
  const secrets = {
    AWS_SECRET_ACCESS_KEY: "s3cret-1",
    OPENAI_API_KEY: "s3cret-2",
    NODE_OPTIONS: "--no-warnings",
    DATABASE_URL: "s3cret-3",
    "BASH_FUNC_x%%": "() { touch /tmp/x; }",
    LC_FAKE: "() { :; }",
    npm_config_token: "s3cret-4",
    Path_Like: "s3cret-5",
  };
  afterEach(() => vi.unstubAllEnvs());
  const stub = (): void => {
    for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value);
  };

  test("none of its secrets", async () => {
    stub();
    const { env } = await shown(await open());
    for (const name of Object.keys(secrets)) expect(env).not.toHaveProperty([name]);
    expect(JSON.stringify(env)).not.toContain("s3cret");
    expect(env["PATH"]).toBe(process.env["PATH"]);
  });

  test("what it is given and what it may inherit, by name", async () => {
    stub();
    const { env } = await shown(
      await open({ env: { GIVEN: "1", OPENAI_API_KEY: "its own" }, inherit: ["DATABASE_URL", "NOT_THERE", "LC_FAKE"] }),
    );
    expect(env).toMatchObject({ GIVEN: "1", OPENAI_API_KEY: "its own", DATABASE_URL: "s3cret-3" });
    for (const name of ["AWS_SECRET_ACCESS_KEY", "NOT_THERE", "LC_FAKE", "NODE_OPTIONS"]) expect(env).not.toHaveProperty([name]);
  });
});
