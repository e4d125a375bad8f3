import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { connect, createServer, type McpClient, serve } from "../../src/api/index.js";

const python = ["/usr/bin/python3", "python3"].find((name) => {
  try {
    execFileSync(name, ["-c", "import grpc, google.protobuf, grpc_tools"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}) as string;
if (python === undefined) console.warn("Python is not tested here: python3-grpcio and python3-grpc-tools are not installed");

const folder = mkdtempSync(join(tmpdir(), "anywire-proto-python-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const run = promisify(execFile);
const text = path("test/fixtures/buf-mcp/base");
let made: Promise<NodeJS.ProcessEnv> | undefined;
/** Stubs of the text alone. */
const stubs = (): Promise<NodeJS.ProcessEnv> =>
  (made ??= run(process.execPath, [path("tools/proto/python.mjs"), folder, text, python, "buf/mcp/v1/mcp.proto"]).then(() => ({
    ...process.env,
    PYTHONPATH: folder,
  })));

describe.runIf(python !== undefined)("peers that Python generated from the text of proto-mcp", () => {
  const seen = {
    version: "1.3.0",
    server: "for-python",
    tools: ["echo", "fail"],
    echo: ["über"],
    failed: [-32603, "no luck"],
    resources: ["test://bytes"],
    blob: "0001fe",
  };
  const client = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await run(python, [path("test/fixtures/python/proto_client.py"), ...args], { env: await stubs() })).stdout);

  for (const [kind, encoding] of [
    ["frames", "protobuf"],
    ["json", "JSON"],
  ] as const) {
    it(`a client, over frames of ${encoding} to a command`, async () => {
      const refused = [-32602, -33002];
      expect(await client(kind, process.execPath, path("test/fixtures/proto-server.mjs"))).toEqual({ ...seen, refused });
    }, 60_000);
  }

  for (const eras of [["legacy", "modern"], ["modern"]] as const) {
    it(`a client, over unary RPCs of a server of ${eras.join(" and ")}`, async () => {
      const server = createServer({ name: "for-python", version: "1" })
        .tool("echo", {}, ({ text }) => String(text))
        .tool("fail", {}, () => {
          throw new Error("no luck");
        })
        .resource({ uri: "test://bytes", name: "bytes" }, () => Uint8Array.of(0, 1, 254));
      const listener = await serve(server, "proto+grpc://127.0.0.1:0", { pageSize: 1, eras });
      expect(await client("grpc", listener.address.slice("proto+grpc://".length))).toEqual({
        ...seen,
        refused: ["INVALID_ARGUMENT", "FAILED_PRECONDITION"],
      });
      await listener.close();
    }, 60_000);
  }

  const answers = async (mcp: McpClient): Promise<void> => {
    expect(mcp.server).toMatchObject({ era: "legacy", info: { name: "python-server", version: "9" } });
    const tools = [];
    for await (const tool of mcp.tools()) tools.push(tool);
    expect(tools).toEqual([
      {
        name: "echo",
        description: "says it again",
        inputSchema: { type: "object" },
        _meta: { "buf.mcp.v1/bsr_ref": "buf.build/a/b/c.D:v1" },
      },
      { name: "fail", inputSchema: { type: "object" } },
    ]);
    expect(await mcp.callTool("echo", { text: "über" }, { meta: { trace_id: "t" } })).toMatchObject({
      content: [
        { type: "text", text: "über" },
        { type: "image", data: "AAEC", mimeType: "image/png" },
      ],
      _meta: { cost: "1", trace_id: "t" },
    });
    expect(await mcp.callTool("fail")).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "too slow" }],
      _meta: { "buf.mcp.v1/error": { code: -33003, message: "too slow", data: { ms: "5" } } },
    });
    expect(await mcp.readResource("test://x")).toMatchObject({ contents: [{ uri: "test://x", blob: "AAE=" }] });
  };

  for (const [kind, encodings] of [
    ["frames", undefined],
    // It does not know JSON, so protobuf it is.
    ["frames", ["json", "protobuf"]],
    ["json", ["json", "protobuf"]],
  ] as const) {
    it(`a server of ${kind} on its standard streams, offered ${encodings?.join(" and ") ?? "the usual"}`, async () => {
      const env = { PYTHONPATH: String((await stubs())["PYTHONPATH"]) };
      const command = { command: python, args: [path("test/fixtures/python/proto_server.py"), kind], speaks: "proto+stdio" } as const;
      await using mcp = await connect({ ...command, env }, { jsonToo: false, probeMs: 20_000, encodings });
      await answers(mcp);
    }, 60_000);
  }

  it("a server, over unary RPCs", async () => {
    const child = spawn(python, [path("test/fixtures/python/proto_server.py"), "grpc"], {
      env: await stubs(),
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [port] = await once(child.stdout, "data");
    await using mcp = await connect(`proto+grpc://127.0.0.1:${String(port).trim()}`, { jsonToo: false, probeMs: 20_000 });
    await answers(mcp);
    child.stdin.end();
    await once(child, "exit");
  }, 60_000);
});
