import { execFile } from "node:child_process";
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
