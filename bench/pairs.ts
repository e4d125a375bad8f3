import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connect, type Era, type McpClient } from "anywire";
import { child } from "./child.js";
import { TOOLS } from "./tools.js";

/** Two ends of one make on stdio, seen from the client. */
export interface Pair {
  readonly name: string;
  /** Makes one call of the echo tool and checks its answer. */
  echo(text: string): Promise<void>;
  /** Lists all tools and checks their number. */
  list(): Promise<void>;
  close(): Promise<void>;
}

async function anywirePair(era: Era, what: What): Promise<Pair> {
  return anywireEnd(await connect(child("anywire", what), { era }));
}

/** A client of ours as the near end of a pair. */
export function anywireEnd(client: McpClient): Pair {
  return {
    name: `Anywire, ${client.server.version}`,
    async echo(text) {
      same((await client.callTool("echo", { text })).content[0], text);
    },
    async list() {
      complete((await client.listTools()).tools);
    },
    close: () => client.close(),
  };
}

async function sdkPair(era: Era, what: What): Promise<Pair> {
  const end = await sdkEnd(era, new StdioClientTransport({ ...child("sdk", what), stderr: "inherit" }));
  return what === "list-zod" ? { ...end, name: end.name.replace(",", " with zod,") } : end;
}

/** A client of the SDK as the near end of a pair. */
export async function sdkEnd(era: Era, transport: Transport): Promise<Pair> {
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  await client.connect(transport);
  return {
    name: `SDK v2, ${client.getNegotiatedProtocolVersion()}`,
    async echo(text) {
      const { content } = await client.callTool({ name: "echo", arguments: { text } });
      same(content[0], text);
    },
    async list() {
      complete((await client.listTools(undefined, { cacheMode: "bypass" })).tools);
    },
    close: () => client.close(),
  };
}

/** The floor: lines through two pipes and a child that does nothing with them, one JSON.stringify and one JSON.parse a line. */
async function pipePair(): Promise<Pair> {
  const { command, args } = child("pipe");
  const running = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: ((text: string) => void)[] = [];
  createInterface({ input: running.stdout }).on("line", (line) => waiting.shift()?.((JSON.parse(line) as { text: string }).text));
  return {
    name: "pipe alone",
    async echo(text) {
      const back = new Promise<string>((resolve) => waiting.push(resolve));
      running.stdin.write(`${JSON.stringify({ text })}\n`);
      same({ type: "text", text: await back }, text);
    },
    list: () => Promise.reject(new Error("pipes list no tools")),
    async close() {
      const exited = once(running, "exit");
      running.stdin.end();
      await exited;
    },
  };
}

/** The bench servers have a few tools of their own besides. */
function complete(tools: readonly unknown[]): void {
  if (tools.length < TOOLS) throw new Error(`there are ${tools.length} tools instead of ${TOOLS}`);
}

export function same(block: unknown, text: string): void {
  if ((block as { readonly text?: unknown } | undefined)?.text !== text) throw new Error(`the echo of ${text} is ${JSON.stringify(block)}`);
}

export type Make = "anywire" | "sdk" | "pipe";
export type Wire = "stdio" | "http" | "grpc" | "grpc-rpc";
/** The tools that a server lists: a few, or many with JSON Schemas or with schemas of zod. */
export type What = "plain" | "list" | "list-zod";

export function openPair(make: Make, era: Era, what: What): Promise<Pair> {
  switch (make) {
    case "anywire":
      return anywirePair(era, what);
    case "sdk":
      return sdkPair(era, what);
    case "pipe":
      return pipePair();
  }
}
