import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "anywire";
import { expect, it } from "vitest";

const folder = join(import.meta.dirname, "../../examples");
const programs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".mjs"));

/** Servers, with the arguments that let them listen on a free port. Each says where it is, and answers `greet`. */
const servers: Record<string, { argument: string; name: string }> = {
  "http/express.mjs": { argument: "0", name: "who" },
  "http/fastify.mjs": { argument: "0", name: "who" },
  "http/hono.mjs": { argument: "0", name: "who" },
  "http/node.mjs": { argument: "0", name: "who" },
  "grpc/serve-mcp-server.mjs": { argument: "grpc://127.0.0.1:0", name: "name" },
  "sdk/serve-mcp-server.mjs": { argument: "http://127.0.0.1:0/mcp", name: "name" },
};
/** Clients, with the server that they call. */
const clients: Record<string, string | undefined> = {
  "grpc/client.mjs": "grpc/serve-mcp-server.mjs",
  "sdk/client-over-anywire.mjs": undefined,
};
/** Parts of the others. */
const parts = ["http/server.mjs"];

it("knows every example", () => {
  expect(programs.sort()).toEqual([...Object.keys(servers), ...Object.keys(clients), ...parts].sort());
});

it.each(Object.entries(servers))("%s says where it listens, stays up and ends on SIGTERM", async (program, { argument, name }) => {
  const { child, address } = await started(program, argument);
  const ended = once(child, "exit");
  try {
    await using client = await connect(address);
    expect((await client.callTool("greet", { [name]: "Ada" })).content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
});

it.each(Object.entries(clients))("%s prints its result and exits", async (program, server) => {
  const running = server === undefined ? undefined : await started(server, servers[server]?.argument ?? "");
  const child = spawn(process.execPath, [join(folder, program), ...(running === undefined ? [] : [running.address])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => (printed += chunk));
  const [code] = await once(child, "close");
  running?.child.kill("SIGTERM");
  expect([printed, code]).toEqual(["Hello, Ada!\n", 0]);
});

/** Starts a server, and waits for the line that says where it is. */
async function started(program: string, argument: string): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(process.execPath, [join(folder, program), argument], { stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  const address = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const [, found] = /^MCP server at (\S+)$/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      });
    child.once("exit", (code) => reject(new Error(`${program} exited with ${code}: ${said.join("\n")}`)));
  });
  return { child, address };
}
