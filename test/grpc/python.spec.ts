import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it, vi } from "vitest";
import { connect, createServer, Fault, progress, serve } from "../../src/api/index.js";

const python = ["/usr/bin/python3", "python3"].find((name) => {
  try {
    execFileSync(name, ["-c", "import grpc, google.protobuf, grpc_tools"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});
if (python === undefined) console.warn("Python is not tested here: python3-grpcio and python3-grpc-tools are not installed");

const folder = mkdtempSync(join(tmpdir(), "anywire-python-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const run = promisify(execFile);

/** Stubs as a user would make them, of the shipped protos or of the base alone. */
async function stubs(name: string, from: string): Promise<NodeJS.ProcessEnv> {
  await run(process.execPath, [path("tools/proto/python.mjs"), join(folder, name), from, python as string]);
  return { ...process.env, PYTHONPATH: join(folder, name) };
}

describe.runIf(python !== undefined)("the C core, from Python", () => {
  it("as a client, with stubs of the shipped protos", async () => {
    const cancelled: unknown[] = [];
    const server = createServer({ name: "for-python", version: "1" })
      .tool("echo", {}, ({ text }) => String(text))
      .tool("count", {}, async function* ({ n }) {
        for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n));
        return "counted";
      })
      .tool("fail", {}, () => {
        throw new Fault("application", "as told", { rpcCode: -32050, data: { why: "ü" } });
      })
      .tool("wait", {}, ({ key }, ctx) => new Promise((resolve) => ctx.cancel.on(() => resolve(String(cancelled.push(key))))))
      .resource({ uri: "test://octets", name: "octets" }, () => new Uint8Array(123_456));
    const listener = await serve(server, "grpc://127.0.0.1:0");
    const env = await stubs("full", path("proto"));
    const { stdout } = await run(python as string, [path("test/fixtures/python/client.py"), listener.address.slice(7)], {
      env,
      maxBuffer: 1 << 24,
    });
    const seen = JSON.parse(stdout);
    expect(seen).toMatchObject({
      server: "for-python",
      session: true,
      unary: "über",
      tools: ["echo", "count", "fail", "wait"],
      progress: ["progress", "progress", "progress", "result"],
      gzip: true,
      large: true,
      bytes: 123_456,
      deadline: { code: "DEADLINE_EXCEEDED" },
      error: { code: "INVALID_ARGUMENT", trailers: { "mcp-error-code": "-32602" } },
      metadata: { code: "UNKNOWN", details: "as told", trailers: { "mcp-error-code": "-32050", "mcp-error-data-bin": '{"why":"ü"}' } },
      method: { code: "UNIMPLEMENTED" },
      service: { code: "UNIMPLEMENTED" },
      cancelled: true,
      session_calls: true,
      session_list_ended: true,
    });
    await vi.waitFor(() => expect(cancelled.sort()).toEqual(["cancel", "deadline"]), { timeout: 10_000 });
    await listener.close();
  }, 120_000);

  it("as a server that knows the base alone", async () => {
    const env = await stubs("base", path("test/fixtures/mcp/base"));
    const child = spawn(python as string, [path("test/fixtures/python/server.py")], { env, stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit");
    const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const client = await connect(`grpc://127.0.0.1:${port}`, { info: { name: "anywire-test", version: "1" } });
    expect(client.server).toMatchObject({
      era: "legacy",
      version: "2025-06-18",
      info: { name: "python-base" },
      instructions: "Be kind to anywire-test",
    });
    // It has no service of proto-mcp, so a client of that falls back to gRPC's own.
    await using fallen = await connect(`proto+grpc://127.0.0.1:${port}`);
    expect(fallen.server.info).toMatchObject({ name: "python-base" });
    await expect(connect(`proto+grpc://127.0.0.1:${port}`, { jsonToo: false })).rejects.toMatchObject({ code: "unknown-method" });
    const { tools } = await client.listTools();
    expect(tools.length).toBe(300);
    expect(tools[299]).toMatchObject({ name: "tool-299", inputSchema: { type: "object", properties: { n: { type: "integer" } } } });
    expect((await client.callTool("tool-1", { n: 7 })).content?.[0]).toMatchObject({ text: "called tool-1 with {'n': 7.0}" });
    await expect(client.callTool("missing")).rejects.toMatchObject({ code: "invalid-params", message: "no such tool: missing" });
    const steps: number[] = [];
    const result = await client.callTool("tool-2", {}, { onProgress: (step) => void steps.push(step.progress) });
    expect(result.content?.[0]).toMatchObject({ text: "done" });
    expect(steps).toEqual([1, 2, 3]);
    await expect(client.callTool("fails", {}, { onProgress: () => {} })).rejects.toMatchObject({ rpcCode: -32050, message: "on purpose" });
    const { contents } = await client.readResource("py://blob");
    expect(Buffer.from((contents[0] as { blob: string }).blob, "base64").length).toBe(1_000_000);
    let read = 0;
    for await (const chunk of client.readChunks("py://blob", { offset: 900_000 })) read += chunk.data.length;
    expect(read).toBe(100_000);
    await expect(client.readResource("py://none")).rejects.toMatchObject({ code: "not-found" });
    expect((await client.getPrompt("greet", { who: "Ada" })).messages[0]).toMatchObject({ role: "user", content: { text: "Hello, Ada!" } });
    const changes = client.watch("py://blob");
    const change = changes.next();
    await vi.waitFor(
      async () => {
        expect((await client.complete({ type: "ref/prompt", name: "greet" }, { name: "who", value: "a" })).completion.values).toEqual([
          "ada",
        ]);
        expect(await Promise.race([change, new Promise((resolve) => setTimeout(resolve, 500, "waiting"))])).toMatchObject({
          value: { uri: "py://blob", change: "modified" },
        });
      },
      { timeout: 20_000 },
    );
    await changes.return();
    await client.close();
    child.stdin.end();
    await exited;
  }, 120_000);
});
