import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer, type Listener, serve } from "../../src/api/index.js";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/guide/peers.md"), "utf8");
/** Debian's programs come first, whatever else is installed. */
const PATH = ["/usr/bin", process.env["PATH"]].join(delimiter);
const folders: string[] = [];
let listener: Listener;

beforeAll(async () => {
  const server = createServer({ name: "for-others", version: "1" }).tool("echo", {}, ({ text }) => String(text));
  listener = await serve(server, "grpc://127.0.0.1:0");
});
afterAll(async () => {
  await listener?.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function has(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", env: { ...process.env, PATH } });
    return true;
  } catch {
    return false;
  }
}

/** What the guide says in a section, of one language. */
function block(section: string, language: string): string {
  const text = guide.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(text)?.[1] ?? "";
}

/** A folder in which the package is installed, and the commands of a section have run. */
async function prepared(section: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "anywire-languages-"));
  folders.push(folder);
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(join(root, "bin/anywire.js"), join(folder, "node_modules/.bin/anywire"));
  await run("bash", ["-euc", block(section, "sh")], { cwd: folder, env: { ...process.env, PATH } });
  return folder;
}

const python = has("python3", "-c", "import grpc, google.protobuf, grpc_tools");
const tools = ["go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc"];
const go = tools.every((name) => has("which", name)) && has("test", "-d", "/usr/share/gocode/src/google.golang.org/grpc");
if (!python) console.warn("Python is not tested here: python3-grpcio and python3-grpc-tools are not installed");
if (!go) console.warn("Go is not tested here: the packages that docs/guide/peers.md names are not installed");

it.runIf(python)("the guide's Python calls an Anywire server, beside a package called mcp", { timeout: 60_000 }, async () => {
  const folder = await prepared("Python");
  mkdirSync(join(folder, "site/mcp"), { recursive: true });
  writeFileSync(join(folder, "site/mcp/__init__.py"), "sdk = True\n");
  writeFileSync(join(folder, "client.py"), `import mcp as official\nassert official.sdk\n${block("Python", "python")}`);
  const env = { ...process.env, PATH, PYTHONPATH: join(folder, "site") };
  const { stdout } = await run("python3", ["client.py", listener.address.slice("grpc://".length)], { cwd: folder, env });
  expect(stdout).toBe("echo\nhello\n");
});

it.runIf(go)("the guide's Go calls an Anywire server", { timeout: 240_000 }, async () => {
  const folder = await prepared("Go");
  writeFileSync(join(folder, "client.go"), block("Go", "go"));
  const env = { ...process.env, PATH, GO111MODULE: "off", GOPATH: `${folder}:/usr/share/gocode` };
  await run("go", ["build", "client.go"], { cwd: folder, env });
  const { stdout } = await run(join(folder, "client"), [listener.address.slice("grpc://".length)]);
  expect(stdout).toBe("echo\nhello\n");
});
