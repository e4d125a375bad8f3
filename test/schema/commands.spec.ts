import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anywire, demo, run, start } from "../cli/support.js";
import { registryFolder, searchTool, setOf } from "./registries.js";
import { buf, scratch } from "./support.js";

const tool = (properties: object, more: object = {}): object => ({
  tools: [{ name: "search", description: "Finds.", inputSchema: { type: "object", properties, ...more } }],
});
const file = (folder: string, content: unknown): string => {
  const path = join(folder, "tools.json");
  writeFileSync(path, JSON.stringify(content));
  return path;
};

describe("anywire schema", () => {
  it("to-proto writes a module of a running server that buf builds, and to-json reads it back", async () => {
    const folder = scratch();
    const { code, stdout } = await run(["schema", "to-proto", "-o", folder, ...demo]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ tools written to /)]);
    const set = join(folder, "set.binpb");
    expect(buf("lint", folder)).toEqual({ status: 0, text: "" });
    expect(buf("build", folder, "-o", set)).toEqual({ status: 0, text: "" });
    const lock = JSON.parse(readFileSync(join(folder, "anywire.lock.json"), "utf8")) as { package: string };
    const back = await run(["schema", "to-json", set, "--message", `${lock.package}.EchoRequest`]);
    expect(JSON.parse(back.stdout)).toMatchObject({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });
    expect((await run(["schema", "check", "-o", folder, ...demo])).stdout).toBe("nothing has changed\n");
  });

  it("check names what breaks clients, and its exit code says so", async () => {
    const folder = scratch();
    const out = join(folder, "proto");
    expect((await run(["schema", "to-proto", file(folder, tool({ a: { type: "string" }, b: { type: "string" } })), "-o", out])).code).toBe(
      0,
    );
    const fine = await run([
      "schema",
      "check",
      file(folder, tool({ new: { type: "string" }, a: { type: "string" }, b: { type: "string" } })),
      "-o",
      out,
    ]);
    expect([fine.code, fine.stdout]).toEqual([0, "compatible: search: argument new is new\n0 of 1 changes break clients\n"]);
    const bad = await run(["schema", "check", file(folder, tool({ a: { type: "integer" } }, { required: ["a"] })), "-o", out]);
    expect([bad.code, bad.stdout]).toEqual([
      1,
      "breaking: search: argument a was string, and is int64 now\nbreaking: search: argument b is gone\n2 of 2 changes break clients\n",
    ]);
    const gone = await run(["schema", "to-proto", file(folder, { tools: [] }), "-o", out]);
    expect(gone.code).toBe(0);
    expect(existsSync(join(out, "tools/tools/v1/search.proto"))).toBe(false);
  });

  it("converts the other tools where one cannot be, and says why", async () => {
    const folder = scratch();
    const tools = [...(tool({}) as { tools: object[] }).tools, { name: "far", inputSchema: { $ref: "https://example.com/schema" } }];
    const { code, stdout, stderr } = await run(["schema", "to-proto", file(folder, { tools }), "-o", join(folder, "proto")]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^1 tools written/)]);
    expect(stderr).toContain(
      'the tool "far" cannot be converted: the schema refers to "https://example.com/schema", which is outside of it',
    );
  });

  it.each([
    [["schema"], "to-proto, to-json, check, resolve, serve is missing"],
    [["schema", "resolve"], "what to talk to is missing"],
    [["schema", "resolve", "buf.build/acme"], "is no reference"],
    [["schema", "resolve", "evil.example/acme/tools/x:v1", "--no-cache"], "evil.example is none of the registries that may be asked"],
    [["schema", "resolve", "buf.build/acme/tools/x:v1", "--registry", "buf.build=http://10.0.0.1"], "would be asked without TLS"],
    [["schema", "serve", "/nowhere"], "/nowhere: there is no such directory"],
    [["schema", "serve", "docs", "--listen", "http://0.0.0.0:0"], "without TLS"],
    [["schema", "to-proto", "tools.json"], "schema to-proto needs -o <dir>"],
    [["schema", "to-proto"], "what to talk to is missing"],
    [["schema", "to-proto", "/nowhere.json", "-o", "/tmp/x"], "/nowhere.json: there is no such file"],
    [["schema", "to-json", "package.json"], "the descriptor set cannot be read"],
    [["tokens", "package.json"], "this is not a list of tools"],
  ])("says what is wrong: %j", async (args, message) => {
    const { code, stderr } = await run(args);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
  });
});

describe("anywire schema serve and resolve", () => {
  it("are a registry and its client, of which the client also works without it", async () => {
    const folder = registryFolder({ "acme/tools/v1.binpb": setOf(searchTool) });
    const env = { XDG_CACHE_HOME: scratch(), BUF_TOKEN: "t0p-s3cret" };
    const registry = start(
      process.execPath,
      [anywire, "schema", "serve", folder, "--listen", "http://127.0.0.1:0", "--api-key-env", "BUF_TOKEN"],
      { env },
    );
    let text = "";
    registry.child.stderr.on("data", (chunk: string) => (text += chunk));
    await registry.shows(/is at http:\S+;/);
    const url = /http:\/\/[\d.:]+/.exec(text)?.[0] ?? "";
    const resolve = (...more: readonly string[]): ReturnType<typeof run> =>
      run(["schema", "resolve", "--registry", `buf.build=${url}`, "buf.build/acme/tools/web_search:v1", ...more], { env });
    const first = await resolve("-v");
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^input {3}acme\.tools\.v1\.WebSearchRequest\noutput {2}acme.*from {4}the registry/s),
    });
    expect(first.stdout + first.stderr + text).not.toContain(env.BUF_TOKEN);
    const refused = await run(["schema", "resolve", "--no-cache", "--registry", `buf.build=${url}`, "buf.build/acme/tools/web_search:v1"], {
      env: { ...env, BUF_TOKEN: "another" },
    });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("wants a token: set BUF_TOKEN")]);
    registry.child.kill("SIGTERM");
    expect((await registry.ended).code).toBe(143);
    const offline = await resolve("--offline", "--json");
    expect(JSON.parse(offline.stdout)).toMatchObject({
      from: "disk",
      input: "acme.tools.v1.WebSearchRequest",
      inputSchema: { required: ["query"] },
    });
    const other = await resolve("--offline", "--sha256", "0".repeat(64));
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("have the hash")]);
  });
});

describe("anywire tokens", () => {
  it("says which package it lacks", async () => {
    const hook = `export const resolve = (name, context, next) => { if (name.startsWith("gpt-tokenizer")) throw Object.assign(new Error(name), { code: "ERR_MODULE_NOT_FOUND" }); return next(name, context); }`;
    const url = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
    const register = url(`import { register } from "node:module"; register(${JSON.stringify(url(hook))});`);
    const { code, stderr } = await run(["tokens", file(scratch(), tool({}))], { node: ["--import", register] });
    expect([code, stderr]).toEqual([
      1,
      "anywire: counting tokens needs the package gpt-tokenizer, which is not installed: npm install gpt-tokenizer\n",
    ]);
  });

  it("counts what the tools of a server cost", async () => {
    const { code, stdout } = await run(["tokens", "--json", ...demo]);
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { encoding: string; tokens: { json: number; index: number } });
    expect(lines.map(({ encoding }) => encoding)).toEqual(["cl100k_base", "o200k_base"]);
    for (const { tokens } of lines) expect(tokens.index).toBeLessThan(tokens.json);
    expect((await run(["tokens", ...demo])).stdout).toMatch(/names and first sentences +\d+ \(\d+\.\d%\)/);
  });
});
