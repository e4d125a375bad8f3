import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { build, stop } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A server as its author bundles it. `draft07` has the other dialect of JSON Schema. */
const source = `
  import { createServer, serve } from "anywire";
  const input = { type: "object", properties: { city: { type: "string" }, to: { $ref: "#/$defs/to" } }, required: ["city"], $defs: { to: { type: "string" } } };
  const server = createServer({ name: "bundled", version: "1" });
  server.tool("weather", { input }, ({ city }) => "sun in " + city);
  server.tool("draft07", { input: { $schema: "http://json-schema.org/draft-07/schema#", ...input } }, ({ city }) => "rain in " + city);
  await serve(server, "stdio:");`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "anywire-bundled-"));
});
afterAll(async () => {
  // esbuild's own process would outlive this file, in the worker that it shares with others.
  await stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  { name: "one file", splitting: false },
  { name: "split code", splitting: true },
])("a server bundled by esbuild into $name", ({ splitting }) => {
  it("checks arguments, and answers the official client", async () => {
    const outdir = join(folder, String(splitting));
    await build({
      stdin: { contents: source, resolveDir: root },
      outdir,
      entryNames: "server",
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting,
      platform: "node",
      format: "esm",
      logLevel: "error",
      // The usual line for CommonJS modules that ask for Node's own modules.
      banner: { js: 'import { createRequire as cjs } from "node:module"; const require = cjs(import.meta.url);' },
    });
    const client = new Client({ name: "official", version: "1" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [join(outdir, "server.mjs")] }));
    try {
      for (const [name, weather] of Object.entries({ weather: "sun", draft07: "rain" })) {
        const good = await client.callTool({ name, arguments: { city: "Oslo" } });
        expect(JSON.stringify(good.content)).toBe(`[{"type":"text","text":"${weather} in Oslo"}]`);
        const bad = await client.callTool({ name, arguments: { to: "Rome" } });
        expect(bad.isError).toBe(true);
        expect(JSON.stringify(bad.content)).toContain("must have required property 'city'");
      }
    } finally {
      await client.close();
    }
  });
});
