import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "../..");
const { version: oldest } = JSON.parse(readFileSync(join(root, "tools/typescript-5.4/node_modules/typescript/package.json"), "utf8")) as {
  version: string;
};

/** Uses the front door as somebody would who has nothing of Node: what is wrong has to be found, so it is not all `any`. */
const user = `
import { connect, createServer, type McpClient, serve } from "anywire";
import { deadline } from "anywire/stream";
import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
// As protoc-gen-es writes them.
type GreetRequest = Message<"acme.v1.GreetRequest"> & { name: string };
type GreetResponse = Message<"acme.v1.GreetResponse"> & { letters: bigint };
declare const GreetRequestSchema: GenMessage<GreetRequest>;
declare const GreetResponseSchema: GenMessage<GreetResponse>;
declare const response: GreetResponse;
const messages = { input: GreetRequestSchema, output: GreetResponseSchema };
createServer({ name: "n", version: "1" })
  .tool("greet", { ...messages, description: "greets" }, (message) => (message.name.length > 0 ? response : "nobody"))
  .tool("slowly", messages, async function* ({ name }) {
    name.trim();
    return response;
  })
  .tool("text", { input: GreetRequestSchema }, async ({ name }) => name.trim())
  // @ts-expect-error there is no such field
  .tool("field", messages, (message) => message.nothing)
  // @ts-expect-error another message than the tool gives
  .tool("other", messages, (message) => message);
export async function call(client: McpClient): Promise<bigint> {
  // @ts-expect-error a name is a string
  await client.callTyped("greet", messages, { name: 5 });
  // @ts-expect-error there is no such field
  await client.callTyped("greet", messages, { nme: "Ada" });
  const { letters } = await client.callTyped("greet", messages, { name: "Ada" });
  // @ts-expect-error it is a bigint
  const short: number = letters;
  return letters + BigInt(short);
}
const server = createServer({ name: "n", version: "1" }).tool(
  "add",
  { input: { type: "object", properties: { a: { type: "number" } } } },
  ({ a }) => String(a),
);
export async function main(): Promise<string> {
  const listener = await serve(server, "http://127.0.0.1:0/mcp", { drainMs: 5 });
  const client: McpClient = await connect(listener.address, { timeout: 1000 });
  for await (const tool of client.tools()) if (tool.name === "add") break;
  const { content } = await client.callTool("add", { a: 1 });
  // @ts-expect-error a timeout is a number
  await connect(listener.address, { timeout: "1s" });
  // @ts-expect-error there is no such option
  await serve(server, "stdio:", { drain: 5 });
  // @ts-expect-error a list has no length
  client.tools().length;
  deadline(undefined, 5)[Symbol.dispose]();
  await client.close();
  return content[0]?.type === "text" ? content[0].text : "";
}
`;

const entries = Object.entries(manifest.exports).flatMap(([name, entry]) => (typeof entry === "string" ? [] : [`anywire${name.slice(1)}`]));
const everything = entries.map((name, at) => `export * as e${at} from "${name}";`).join("\n");

let project: string;

/** A project with the package as it is published, its dependencies, and nothing else: no types of Node, none of the optional peers. */
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "anywire-consumer-"));
  const modules = join(project, "node_modules");
  const { portable } = (await import(join(root, "tools/pack", "portable.mjs"))) as { portable: (text: string) => string };
  for (const name of readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const to = join(modules, "anywire/dist", name);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, portable(readFileSync(join(root, "dist", name), "utf8")));
  }
  cpSync(join(root, "package.json"), join(modules, "anywire/package.json"));
  for (const name of Object.keys(manifest.dependencies))
    cpSync(join(root, "node_modules", name), join(modules, name), { recursive: true, filter: (path) => !/\.[cm]?js(\.map)?$/.test(path) });
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(project, "user.ts"), user);
  writeFileSync(join(project, "everything.ts"), everything);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    types: [],
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "dom"],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["user.ts", "everything.ts"] }));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

it.each([
  ["the TypeScript that builds it", join(root, "package.json"), () => true],
  // protobuf-es itself wants a newer one: it writes Uint8Array with a parameter.
  [
    `TypeScript ${oldest}`,
    join(root, "tools/typescript-5.4/package.json"),
    (line: string) => !line.startsWith("node_modules/@bufbuild/protobuf/"),
  ],
])(
  "a project without Node's types compiles every entry point with %s",
  (_what, from, counts) => {
    const tsc = join(dirname(createRequire(from).resolve("typescript/package.json")), "bin/tsc");
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", project, "--pretty", "false"], { cwd: project, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout.split("\n").filter((line) => line.includes("error TS") && counts(line))).toEqual([]);
  },
  120_000,
);
