import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/sdk/${name}.mjs`, import.meta.url));

it("examples/sdk/serve-mcp-server.mjs serves either era", async () => {
  for (const era of ["legacy", "modern"] as const) {
    const client = await connect({ command: process.execPath, args: [example("serve-mcp-server")] }, { era });
    expect(client.server.info?.name).toBe("greeter");
    expect((await client.callTool("greet", { name: "Ada" })).content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
    await client.close();
  }
});

it("examples/sdk/client-over-anywire.mjs calls it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example("client-over-anywire")]);
  expect(stdout).toBe("Hello, Ada!\n");
});

it("examples/grpc: a server of the SDK over gRPC, and a client of it", async () => {
  const path = (name: string): string => fileURLToPath(new URL(`../../examples/grpc/${name}.mjs`, import.meta.url));
  const server = spawn(process.execPath, [path("serve-mcp-server"), "grpc://127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(server, "exit");
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const { stdout } = await promisify(execFile)(process.execPath, [path("client"), line.replace("MCP server at ", "")]);
    expect(stdout).toBe("Hello, Ada!\n");
  } finally {
    server.kill();
    await exited;
  }
});
