import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";

const file = (name: string): string => fileURLToPath(new URL(`../fixtures/sdk/${name}.mjs`, import.meta.url));
const packages = { v1: "@modelcontextprotocol/sdk", client: "@modelcontextprotocol/client", server: "@modelcontextprotocol/server" };

for (const [script, hidden] of [
  ["only-v1", [packages.client, packages.server]],
  ["only-v2", [packages.client, packages.v1]],
] as const) {
  it(`serves both eras with one version of the SDK installed: ${script}`, async () => {
    for (const era of ["legacy", "modern"] as const) {
      const args = ["--import", file("without"), file(script)];
      const client = await connect({ command: process.execPath, args, env: { HIDDEN: hidden.join(",") } }, { era });
      expect((await client.callTool("hello")).content).toEqual([{ type: "text", text: "hello" }]);
      await client.close();
    }
  });
}
