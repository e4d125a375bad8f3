import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, createServer, type Server, serve } from "../../src/api/index.js";

// What a newcomer writes by mistake, often with the official SDK in mind. Types would stop most of it; programs without types exist.
const make = (): Server => createServer({ name: "example", version: "1" });
const untyped = (server: Server): { tool(...given: unknown[]): Server } => server as never;
const root = fileURLToPath(new URL("../..", import.meta.url));
const flags = ["--noEmit", "--ignoreConfig", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023", "--types", "node"];
let count = 0;

async function called(server: Server, args: object = {}): Promise<unknown> {
  const address = `memory:mistakes-${++count}`;
  await using _listener = await serve(server, address);
  await using client = await connect(address);
  return await client.callTool("it", { ...args });
}

describe("a tool", () => {
  it("needs no options", async () => {
    expect(await called(make().tool("it", () => "hi"))).toMatchObject({ content: [{ type: "text", text: "hi" }] });
  });

  it("may return strings", async () => {
    expect(await called(make().tool("it", () => ["a", "b"]))).toMatchObject({ content: [{ text: "a" }, { text: "b" }] });
  });

  it.each<[string, unknown[], RegExp]>([
    ["a raw shape", [{ input: { n: z.number() } }, () => ""], /tool it: input is an object of schemas.*z\.object\(/],
    [
      "a raw shape as inputSchema",
      [{ inputSchema: { n: z.number() } }, () => ""],
      /tool it: inputSchema is an object of schemas.*input: z\.object/,
    ],
    ["zod as inputSchema", [{ inputSchema: z.object({}) }, () => ""], /tool it: inputSchema is JSON Schema.*write input: /],
    ["zod as outputSchema", [{ outputSchema: z.object({}) }, () => ""], /tool it: outputSchema is JSON Schema.*write output: /],
    ["no handler", [{ description: "x" }], /tool it: .*handler/],
    ["nothing", [], /tool it: the handler is missing; write tool\("it", options, handler\)/],
    ["a text as input", [{ input: "object" }, () => ""], /tool it: input has to be a JSON Schema, such as/],
    ["a text as outputSchema", [{ outputSchema: "object" }, () => ""], /tool it: output has to be a JSON Schema, such as/],
    ["the arguments of the SDK", ["what it does", { n: z.number() }, () => ""], /tool it: .*\{ description: "what it does"/],
    ["parameters", [{ parameters: { type: "object" } }, () => ""], /tool it: .*"parameters".*input/],
  ])("is refused with %s, and the error says what to write", (_name, given, says) => {
    expect(() => untyped(make()).tool("it", ...given)).toThrow(says);
  });

  it.each<[string, unknown, RegExp]>([
    ["a plain object", { a: 1 }, /tool it .*return \{ structuredContent: /],
    ["a number", 5, /tool it .*number/],
    ["nothing", undefined, /tool it .*undefined/],
    ["an array of other things", [1], /tool it .*content blocks/],
  ])("that returns %s fails, and the error says what to return", async (_name, result, says) => {
    await expect(called(untyped(make()).tool("it", {}, () => result))).rejects.toThrow(says);
  });
});

describe("an address", () => {
  it.each<[string, unknown, RegExp]>([
    ["none", undefined, /serve needs an address, such as serve\(server, "http:/],
    ["a port", 8000, /serve needs an address.*"any:\/\/127\.0\.0\.1:8000"/],
    ["a port as text", "8000", /"any:\/\/127\.0\.0\.1:8000"/],
    ["a host and port", "localhost:8000", /"any:\/\/localhost:8000"/],
    ["a path for every wire", "any://127.0.0.1:0/mcp", /any:\/\/ takes no path: leave out \/mcp/],
    ["a path for lines", "tcp://127.0.0.1:0/mcp", /tcp:\/\/ takes no path/],
    ["a path for proto-mcp", "proto+tcp://127.0.0.1:0/mcp", /proto\+tcp:\/\/ takes no path/],
    ["an object that starts nothing", { url: "http://127.0.0.1" }, /command/],
  ])("to serve: %s", async (_name, address, says) => {
    await expect(serve(make(), address as string)).rejects.toThrow(says);
  });

  it.each<[string, unknown, RegExp]>([
    ["none", undefined, /connect needs an address, such as connect\("http:/],
    ["a port", 8000, /connect needs an address.*"http:\/\/127\.0\.0\.1:8000\/mcp"/],
    ["a host and port", "localhost:8000", /"http:\/\/localhost:8000\/mcp"/],
    ["a URL object", new URL("http://127.0.0.1:1/mcp"), /127\.0\.0\.1:1/],
  ])("to connect to: %s", async (_name, address, says) => {
    await expect(connect(address as string)).rejects.toThrow(says);
  });
});

describe("limits", () => {
  const wires = [
    "memory:limits",
    "http://127.0.0.1:0",
    "sse+http://127.0.0.1:0",
    "ws://127.0.0.1:0",
    "grpc://127.0.0.1:0",
    "tcp://127.0.0.1:0",
  ];
  it.each([...wires, "proto+tcp://127.0.0.1:0", "any://127.0.0.1:0"])("that are none are refused by serve on %s", async (address) => {
    const given = (limits: object) => serve(make(), address, { limits });
    await expect(given({ messageBytes: "4mb" })).rejects.toThrow('limits.messageBytes has to be a number of at least 0, not "4mb"');
    await expect(given({ depth: Number.NaN })).rejects.toThrow("limits.depth has to be a number of at least 0, not NaN");
    await expect(given({ messageSize: 1 })).rejects.toThrow('there is no limit "messageSize"');
  });

  it.each(["http", "ws", "grpc", "tcp", "proto+tcp"])("that are none are refused by connect on %s", async (scheme) => {
    await using listener = await serve(make(), `${scheme}://127.0.0.1:0`);
    await expect(connect(listener.address, { limits: { messageBytes: "4mb" } as object })).rejects.toThrow("has to be a number");
  });

  it("that are undefined keep their defaults", async () => {
    const given: { depth?: number } = { depth: undefined } as object;
    await using listener = await serve(make(), "http://127.0.0.1:0", { limits: given });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(300)}${"]".repeat(300)}}}`;
    const response = await fetch(listener.address, { method: "POST", headers, body });
    expect([response.status, await response.json()]).toMatchObject([413, { error: { data: { limit: "depth", max: 256 } } }]);
  });
});

it.each<[string, unknown, RegExp]>([
  ["auth", () => ({ id: "ada" }), /serve takes auth: \{ verify \}, where verify is a function/],
  ["auth", {}, /serve takes auth: \{ verify \}/],
  ["allowedHosts", "mcp.example.com", /serve takes a list as allowedHosts.*not "mcp\.example\.com"/],
  ["allowedOrigins", "*", /serve takes a list as allowedOrigins/],
])("serve with %s of another form says what to write", async (name, value, says) => {
  await expect(serve(make(), "http://127.0.0.1:0", { [name]: value })).rejects.toThrow(says);
});

it("serve without a server says so", async () => {
  await expect(serve(undefined as never, "memory:nothing")).rejects.toThrow(/serve needs a server.*createServer/);
});

it.each([undefined, {}, { name: "x" }])("createServer(%j) asks for a name and a version", (options) => {
  expect(() => createServer(options as never)).toThrow(/createServer needs \{ name, version \}/);
});

it("a tool that returns an object is an error of the compiler that names structuredContent", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(root, "test/api/.compiled-"));
  try {
    const file = join(folder, "tool.ts");
    await writeFile(
      file,
      'import { createServer } from "../../../dist/api/index.js";\ncreateServer({ name: "x", version: "1" }).tool("it", {}, () => ({ a: 1 }));\n',
    );
    const compiled = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, file], { encoding: "utf8" });
    expect(compiled.stdout).toContain("Property 'structuredContent' is missing in type '{ a: number; }'");
  } finally {
    await rm(folder, { recursive: true });
  }
});
