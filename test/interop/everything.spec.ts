import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { connect } from "../../src/api/index.js";
import { childServer } from "./child-server.js";
import { everything } from "./everything.js";

const folder = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"));
const args = (mode: string): string[] => [join(folder, "dist/index.js"), mode];

everything("stdio", (options) => connect({ command: process.execPath, args: args("stdio") }, options));

for (const [mode, address] of [
  ["streamableHttp", (port: number) => `http://127.0.0.1:${port}/mcp`],
  ["sse", (port: number) => `sse+http://127.0.0.1:${port}/sse`],
] as const)
  everything(mode, async (options) => {
    const server = await childServer(args(mode));
    const client = await connect(address(server.port), options);
    void client.closed.then(() => server[Symbol.asyncDispose]());
    return client;
  });
