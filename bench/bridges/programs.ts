import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { boundTo } from "./proc.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = `${root}tools/bridges`;

/** A bridge as its users start it: a server on stdio becomes one on HTTP. */
export interface BridgeProgram {
  readonly name: string;
  /** What follows `node`. */
  arguments(command: readonly string[], port: number): readonly string[];
  /** The same where the arguments say where to listen, and leave it to the program. */
  defaults?(command: readonly string[]): readonly string[];
}

export const anywire: BridgeProgram = {
  name: "Anywire",
  arguments: (command, port) => ours(`http://127.0.0.1:${port}/mcp`, "--", ...command),
  defaults: (command) => [`${root}bin/anywire.js`, "bridge", "--", ...command],
};

/** Ours on another wire, or in front of a URL. */
export function ours(listen: string, ...server: readonly string[]): readonly string[] {
  return [`${root}bin/anywire.js`, "bridge", "--listen", listen, "--snippet", "none", ...server];
}
export const supergateway: BridgeProgram = {
  name: "supergateway 4.0.0",
  arguments: (command, port) => [
    ...[`${folder}/node_modules/supergateway/dist/index.js`, "--stdio", command.join(" "), "--outputTransport", "streamableHttp"],
    ...["--stateful", "--logLevel", "none", "--port", String(port)],
  ],
};
export const mcpProxy: BridgeProgram = {
  name: "mcp-proxy 6.7.19",
  arguments: (command, port) => [`${folder}/node_modules/.bin/mcp-proxy`, "--server", "stream", "--port", String(port), "--", ...command],
};

/** The way back, from a client on stdio to a URL. */
export function mcpRemote(url: string): readonly string[] {
  return [`${folder}/node_modules/mcp-remote/dist/proxy.js`, url, "--allow-http", "--transport", "http-only"];
}

/** Installs the bridges of others, where they are not yet. */
export function installOthers(): void {
  if (existsSync(`${folder}/node_modules/mcp-remote`)) return;
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
}

export interface RunningProgram extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Starts a bridge in front of a command, and waits until it listens. */
export async function startProgram(program: BridgeProgram, command: readonly string[]): Promise<RunningProgram> {
  const port = await freePort();
  const child = spawn(process.execPath, [...program.arguments(command, port)], { stdio: ["ignore", "ignore", "ignore"] });
  const exited = once(child, "exit");
  let over = false;
  void exited.then(() => {
    over = true;
  });
  while (boundTo(child.pid as number).length === 0) {
    if (over) throw new Error(`${program.name} ended`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    pid: child.pid as number,
    async [Symbol.asyncDispose]() {
      child.kill();
      const stubborn = setTimeout(() => child.kill("SIGKILL"), 8000);
      await exited;
      clearTimeout(stubborn);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
