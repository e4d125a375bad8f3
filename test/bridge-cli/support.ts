import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { anywire, type Running, root, start } from "../cli/support.js";

/** A bridge that is running, and what it said. */
export interface RunningBridge extends Running {
  /** By the title of its line: `Streamable HTTP`, `gRPC`. */
  at(title: string): string;
  readonly said: string;
}

/** Starts the real command and waits until it says where the server is. */
export async function startBridge(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningBridge> {
  const running = start(process.execPath, [anywire, "bridge", ...args], { env });
  let said = "";
  running.child.stdout.on("data", (text: string) => {
    said += text;
  });
  await running.shows(/is now at\n( {2}.+\n)+/);
  return {
    ...running,
    get said() {
      return said;
    },
    at(title) {
      const line = said.split("\n").find((each) => each.startsWith(`  ${title}  `));
      if (line === undefined) throw new Error(`no ${title} in ${said}`);
      return line.trim().split(/\s{2,}/)[1] as string;
    },
  };
}

type Transport = Parameters<Client["connect"]>[0];

async function connected(transport: unknown): Promise<Client> {
  const client = new Client({ name: "sdk", version: "0" });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  return client;
}

/** The official client over Streamable HTTP. */
export const overHttp = (url: string, headers: Record<string, string> = {}): Promise<Client> =>
  connected(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
export const overSse = (url: string): Promise<Client> => connected(new SSEClientTransport(new URL(url)));
/** The official client, which starts the command as its server. */
export const overStdio = (args: readonly string[]): Promise<Client> =>
  connected(new StdioClientTransport({ command: process.execPath, args: [anywire, ...args], stderr: "ignore" }));

export async function textOf(result: ReturnType<Client["callTool"]>): Promise<string | undefined> {
  return ((await result) as { content: { text?: string }[] }).content[0]?.text;
}

/** The real server-everything on Streamable HTTP, at a port of its own unless one is given. */
export async function everythingOverHttp(port?: number): Promise<Running & { readonly url: string }> {
  const at = port ?? (await freePort());
  const script = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const running = start(process.execPath, [script, "streamableHttp"], { env: { PORT: String(at) } });
  await running.shows(/listening|port/i);
  return { ...running, url: `http://127.0.0.1:${at}/mcp` };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
