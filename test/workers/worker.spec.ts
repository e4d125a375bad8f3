import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { connect, type McpClient } from "../../src/api/index.js";

const config = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
  durableObjectNamespaces = [(className = "Mcp", uniqueKey = "anywire")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "mcp", durableObjectNamespace = "Mcp")],
);`;

/** The binary; the package has no types. */
const workerd: string = createRequire(import.meta.url)("workerd").default;

let folder: string;
let child: ChildProcess | undefined;
let origin: string | undefined;
/** Why there are no Workers here. */
let missing = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "anywire-workers-"));
  // What of Node a Worker has stays to be imported there.
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, "worker.mjs")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    external: ["node:*"],
    metafile: true,
    logLevel: "silent",
  });
  expect(Object.values(metafile.outputs)[0]?.imports.map(({ path }) => path)).toEqual(["node:net"]);
  await writeFile(join(folder, "config.capnp"), config);
  const started = spawn(workerd, ["serve", join(folder, "config.capnp"), "--control-fd=3"], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  child = started;
  origin = await new Promise((resolve) => {
    let said = "";
    const gone = (): void => {
      missing = `workerd does not start here: ${said.trim().split("\n").at(-1)}`;
      resolve(undefined);
    };
    started.once("error", ({ message }) => {
      said = message;
      gone();
    });
    started.once("exit", gone);
    started.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-4096);
    });
    (started.stdio[3] as Readable).on("data", (chunk: Buffer) => {
      const port = /"port":(\d+)/.exec(String(chunk))?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
}, 60_000);
afterAll(async () => {
  if (child?.exitCode === null && child.pid !== undefined) {
    const exited = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
});

function at(path: string, { skip }: TestContext): string {
  if (origin === undefined) skip(missing);
  return `${origin}${path}`;
}

async function used(client: McpClient): Promise<object> {
  const { tools } = await client.listTools();
  const steps: number[] = [];
  await client.callTool("count", { n: 3 }, { onProgress: ({ progress }) => steps.push(progress) });
  const wrong = await client.callTool("count", { n: "three" });
  let bytes = 0;
  for await (const { data } of client.readChunks("test://big")) bytes += data.length;
  return { tools: tools.map(({ name }) => name), steps, wrong: wrong.isError, bytes };
}
const expected = { tools: ["count", "greet"], steps: [1, 2, 3], wrong: true, bytes: 8 * 1024 * 1024 };

it.for(["modern", "legacy"] as const)("a Durable Object serves %s clients, and asks them", async (era, context) => {
  const elicit = () => ({ action: "accept" as const, content: { name: "Ada" } });
  await using client = await connect(at("/mcp", context), { era, elicit });
  expect(await used(client)).toEqual(expected);
  expect((await client.callTool("greet")).content).toEqual([{ type: "text", text: "hello Ada" }]);
});

it("a Worker alone serves modern clients", async (context) => {
  await using client = await connect(at("/alone", context));
  expect(await used(client)).toEqual(expected);
});
