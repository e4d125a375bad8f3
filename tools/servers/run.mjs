import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { installed } from "../conformance/install.mjs";
import { dump } from "./dump.mjs";

// Lists the tools of public servers with the command and with plain JSON-RPC: both must see the same. Nothing is called, so the keys are made up.
const anywire = fileURLToPath(new URL("../../bin/anywire.js", import.meta.url));
const ms = 15_000; // For each of a server's two listings.
const scratch = await mkdtemp(join(tmpdir(), "anywire-servers-"));
const servers = [
  { name: "@modelcontextprotocol/server-everything" },
  { name: "@modelcontextprotocol/server-filesystem", args: [scratch] },
  { name: "@modelcontextprotocol/server-memory", env: { MEMORY_FILE_PATH: join(scratch, "memory.jsonl") } },
  { name: "@modelcontextprotocol/server-gitlab", env: { GITLAB_PERSONAL_ACCESS_TOKEN: "x" } },
  { name: "@modelcontextprotocol/server-slack", env: { SLACK_BOT_TOKEN: "x", SLACK_TEAM_ID: "x" } },
  { name: "@brave/brave-search-mcp-server", env: { BRAVE_API_KEY: "x" } },
  { name: "@notionhq/notion-mcp-server", env: { NOTION_TOKEN: "x" } },
  { name: "@perplexity-ai/mcp-server", env: { PERPLEXITY_API_KEY: "x" } },
  { name: "hostinger-api-mcp", env: { API_TOKEN: "x" } },
  { name: "tavily-mcp", env: { TAVILY_API_KEY: "x" } },
];

/** The command that starts a server, and its version. */
async function commandOf({ name, args = [] }) {
  const home = await installed("servers", name);
  const { bin, version } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { version, args: [join(home, file), ...args] };
}

async function listed(args, variables, env) {
  const options = Object.entries(variables).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
  const line = [anywire, "tools", "--json", "--timeout", `${ms}ms`, ...options, "--", process.execPath, ...args];
  // Past its own deadline the command has some time left to end the server.
  const { stdout } = await promisify(execFile)(process.execPath, line, { cwd: scratch, env, timeout: ms + 5_000, maxBuffer: 64 << 20 });
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text));
}

async function check(server) {
  const { version, args } = await commandOf(server);
  const variables = server.env ?? {};
  const env = { PATH: process.env.PATH, HOME: scratch };
  const raw = await dump(process.execPath, args, { cwd: scratch, env: { ...env, ...variables }, ms });
  const tools = await listed(args, variables, env);
  const equal = raw.length > 0 && isDeepStrictEqual(tools, raw);
  process.stdout.write(
    `${server.name} ${version}: ${tools.length} tools, ${equal ? "equal" : `NOT equal to the ${raw.length} of the dump`}\n`,
  );
  return equal;
}

let equal = 0;
try {
  for (const server of servers) {
    try {
      if (await check(server)) equal++;
    } catch (error) {
      process.stdout.write(`${server.name}: ${error.message}\n`);
    }
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.stdout.write(`${equal}/${servers.length} equal\n`);
process.exitCode = equal === servers.length ? 0 : 1;
