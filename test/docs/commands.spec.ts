import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { delimiter, join } from "node:path";
import { createServer, type Listener, serve } from "anywire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { authority } from "../fixtures/certificates.js";
import { type Block, blocks, root } from "./blocks.js";

// Every command of the README and the docs runs as it is written, but for these: ports are free ones, addresses of others are those of a
// server here, `npx` takes what is installed, and a gigabyte is a megabyte. A server runs until its section ends.
const shown = blocks.filter(({ language, notRun }) => ["sh", "console"].includes(language) && notRun === undefined);
const sections = new Map<string, Block[]>();
for (const block of shown) {
  const name = `${block.page} ${block.section}`;
  sections.set(name, [...(sections.get(name) ?? []), block]);
}
const anywire = `"${process.execPath}" "${join(root, "bin/anywire.js")}"`;
type Running = ChildProcess & { printed: string };
let http: Listener;
let grpc: Listener;
let folder: string;

beforeAll(async () => {
  const server = createServer({ name: "example", version: "1.0.0" }).tool("greet", () => "hello");
  http = await serve(server, "http://127.0.0.1:0/mcp");
  grpc = await serve(server, "grpc://127.0.0.1:0");
  // Inside the package, so that "anywire" means the package itself.
  await mkdir(join(root, ".cache"), { recursive: true });
  folder = await mkdtemp(join(root, ".cache/commands-"));
  const bin = join(folder, "bin");
  await mkdir(bin);
  const scripts = {
    anywire: `exec ${anywire} "$@"`,
    npx: `[ "$1" = -y ] && shift\nname=$(basename "$1" | sed s/^server-/mcp-server-/); shift\nexec "$name" "$@"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  await writeFile(
    join(folder, "server.js"),
    `import { createServer, serve } from "anywire";\nawait serve(createServer({ name: "server", version: "1.0.0" }).tool("get", () => "got"), "stdio:");\n`,
  );
  await writeFile(join(folder, "keys.txt"), `ada:${"0".repeat(64)}\n`);
  await writeFile(join(folder, "token"), "secret");
  const { cert, key } = authority().issue("127.0.0.1");
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
});
afterAll(async () => {
  await Promise.all([http.close(), grpc.close()]);
  await rm(folder, { recursive: true, force: true });
});

const absent = ["curl", "sha256sum"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const possible = [...sections].filter(([, own]) => !own.some(({ text }) => absent.some((tool) => text.includes(tool))));
if (absent.length > 0) it.skip(`${sections.size - possible.length} sections: ${absent.join(" and ")} cannot be found`);

it.each(possible)(
  "%s",
  async (_name, own) => {
    const ports = new Map<string, number>();
    const running: Running[] = [];
    try {
      for (const block of own) {
        if (block.needs !== undefined) {
          running.push(spawned(await prepared(block.needs, ports), "ignore"));
          await ready(running.at(-1) as Running);
        }
        for (const { command, output } of commandsOf(block)) {
          const line = await prepared(command, ports);
          if (/--listen stdio:/.test(line)) await speaksOnStdio(line);
          else if (serves(line)) {
            // Readers stop a server before they start the next one of a section.
            await Promise.all(running.splice(0).map(stop));
            const server = spawned(line, "ignore");
            running.push(server);
            await ready(server);
            await expect.poll(() => missing(server.printed, output, ports)).toEqual([]);
          } else {
            const { printed, code } = await run(line);
            if (block.language === "sh") expect([line, code, printed]).toEqual([line, 0, printed]);
            expect(missing(printed, output, ports)).toEqual([]);
          }
        }
      }
    } finally {
      await Promise.all(running.map(stop));
    }
  },
  120_000,
);

/** The commands of a block, with the output that a console shows below each. */
function commandsOf({ language, text }: Block): { command: string; output: string[] }[] {
  const lines = text.replaceAll(/ *\\\n\s*/g, " ").split("\n");
  if (language === "sh") return lines.filter((line) => !/^\s*(#.*)?$/.test(line)).map((command) => ({ command, output: [] }));
  const found: { command: string; output: string[] }[] = [];
  for (const line of lines)
    if (line.startsWith("$ ")) found.push({ command: line.slice(2), output: [] });
    else found.at(-1)?.output.push(line);
  return found;
}

async function prepared(command: string, ports: Map<string, number>): Promise<string> {
  let line = command
    .replaceAll("https://example.com/mcp", http.address)
    .replaceAll("grpc://mesh.internal:50051", grpc.address)
    .replaceAll("0.0.0.0", "127.0.0.1")
    .replaceAll("generated/1gb", "generated/1mb")
    .replace(/(?<= )examples\//, `${root}/examples/`);
  // A bridge takes port 8000 by itself, and so do the examples.
  if (/anywire bridge (?!.*--(listen|hash-key|as) )/.test(line))
    line = line.replace("anywire bridge", "anywire bridge --listen any://127.0.0.1:8000");
  if (/^node \S+examples\/http\/\w+\.mjs$/.test(line)) line += " --port 8000";
  for (const [, port = ""] of line.matchAll(/(?:127\.0\.0\.1:|--port )(\d{4,5})\b/g))
    if (!ports.has(port) && !isOurs(port)) ports.set(port, await freePort());
  return line
    .replaceAll(/(127\.0\.0\.1:|--port )(\d{4,5})\b/g, (_, before: string, port: string) => `${before}${ports.get(port) ?? port}`)
    .replace(/mjs --port /, "mjs ");
}
const isOurs = (port: string): boolean => [http, grpc].some(({ address }) => address.includes(`:${port}`));
const serves = (line: string): boolean => /anywire (bridge (?!.*--hash-key)|demo .*--listen|schema serve)/.test(line);

/** The lines that a console shows and that were not printed. Times differ. */
function missing(printed: string, output: readonly string[], ports: ReadonlyMap<string, number>): string[] {
  const normal = (text: string): string => text.replaceAll(/\b[\d.]+ (ms|s)\b/g, "N $1");
  let text = normal(printed);
  for (const [port, own] of ports) text = text.replaceAll(String(own), port);
  return output.filter((line) => line !== "..." && !text.includes(normal(line)));
}

function spawned(line: string, stdin: "ignore" | "pipe"): Running {
  const path = [join(folder, "bin"), join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, PATH: path, HOME: folder, KEY: "key", NO_COLOR: "1" };
  // A group of its own, so that what it starts ends with it.
  const child = spawn("bash", ["-c", line], { cwd: folder, env, stdio: [stdin, "pipe", "pipe"], detached: true });
  const own = Object.assign(child, { printed: "" });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => (own.printed += text));
  return own;
}

async function run(line: string): Promise<{ printed: string; code: number | null }> {
  const child = spawned(line, "ignore");
  const patience = setTimeout(() => void stop(child), 60_000);
  await once(child, "close");
  clearTimeout(patience);
  return { printed: child.printed, code: child.exitCode };
}

/** Waits until a server says where it is. */
async function ready(server: Running): Promise<void> {
  const said = /now at\n( .*\n)+|MCP server at|listens on/;
  await expect.poll(() => said.test(server.printed) || server.exitCode !== null, { timeout: 30_000 }).toBe(true);
  expect(server.printed).toMatch(said);
}

/** A bridge on stdio answers. */
async function speaksOnStdio(line: string): Promise<void> {
  const child = spawned(line, "pipe");
  child.stdin?.write(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}\n',
  );
  await expect.poll(() => child.printed, { timeout: 30_000 }).toContain('"serverInfo"');
  child.stdin?.end();
  await once(child, "close");
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const over = once(child, "exit");
  process.kill(-child.pid, "SIGTERM");
  await over;
}

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, "close");
  return port;
}
