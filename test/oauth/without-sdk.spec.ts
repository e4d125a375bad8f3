import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createServer, serve } from "../../src/api/index.js";

const root = resolve(import.meta.dirname, "../..");

const script = `
import { connect } from "anywire";
import { bearer, memoryStore, oauth } from "anywire/oauth";
const sdk = await import("@modelcontextprotocol/client").then(() => "there", (error) => error.code);
const client = await connect(process.argv[2], { auth: bearer("right") });
const { content } = await client.callTool("hello");
await client.close();
const refused = await connect(process.argv[2], { auth: bearer("wrong") }).catch((error) => error.code);
const signed = await connect(process.argv[2], { auth: oauth({ store: memoryStore() }) }).catch((error) => error.message);
console.log(JSON.stringify({ sdk, text: content[0].text, refused, signed }));
`;

it("a bearer token works where the official SDK is not installed, and signing in names what it lacks", async () => {
  // The built package with what an install brings, and nothing more.
  const project = mkdtempSync(join(tmpdir(), "anywire-no-sdk-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const modules = join(project, "node_modules");
  cpSync(join(root, "dist"), join(modules, "anywire/dist"), {
    recursive: true,
    filter: (path) => !/\.(map|d\.ts|tsbuildinfo)$/.test(path),
  });
  cpSync(join(root, "package.json"), join(modules, "anywire/package.json"));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
  }
  writeFileSync(join(project, "main.mjs"), script);

  const server = createServer({ name: "guarded", version: "1" }).tool("hello", {}, () => "hello");
  const verify = (token: string): { id: string } | undefined => (token === "right" ? { id: "ada" } : undefined);
  await using listener = await serve(server, "http://127.0.0.1:0/mcp", { auth: { verify } });

  const child = spawn(process.execPath, ["main.mjs", listener.address], { cwd: project });
  onTestFinished(() => void child.kill());
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  expect(JSON.parse(out)).toEqual({
    sdk: "ERR_MODULE_NOT_FOUND",
    text: "hello",
    refused: "unauthenticated",
    signed: expect.stringContaining("npm install @modelcontextprotocol/client"),
  });
}, 120_000);
