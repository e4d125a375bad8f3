import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { overHttp, startBridge } from "../bridge-cli/support.js";
import { anywire, demo, everything, jsonLines, root, run, scratch } from "./support.js";

function config(text: string | object, name = "mcp.json"): string {
  const path = join(scratch(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text));
  return path;
}

const variable = (name: string): string => `\${${name}}`;
const node = process.execPath;
const listen = ["--listen", "any://127.0.0.1:0"];

describe("--config and --server", () => {
  it("start a server of mcpServers with its args, env and cwd", async () => {
    const file = config({
      mcpServers: {
        demo: { command: node, args: ["anywire.js", "demo"], cwd: join(root, "bin") },
        everything: {
          command: node,
          args: [everything[2], variable("KIND:-stdio")],
          env: { PLAIN: "plain", FROM_SHELL: variable("OF_SHELL"), OF_EDITOR: `${variable("env:OF_SHELL")}!`, LINE: "of the file" },
        },
      },
    });
    expect(await run(["call", "--config", file, "--server", "demo", "echo", "text=hi"])).toMatchObject({ code: 0, stdout: "hi\n" });
    const words = ["call", "get-env", "--config", file, "--server", "everything", "--env", "LINE=of the line"];
    const { code, stdout } = await run(words, { env: { OF_SHELL: "shell" } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ PLAIN: "plain", FROM_SHELL: "shell", OF_EDITOR: "shell!", LINE: "of the line" });
  });

  it("read VS Code's servers, with its comments, folders and envFile", async () => {
    const file = config(
      `{ // the servers of this folder
        "servers": {
          /* one, with a "quoted" word */
          "every // thing": { "type": "stdio", "command": ${JSON.stringify(node)}, "args": [${JSON.stringify(everything[2])}],
            "env": { "FOLDER": "${variable("workspaceFolder")}", "URL": "a://b,]" }, "envFile": "${variable("workspaceFolder")}/.env", },
        },
      }`,
      ".vscode/mcp.json",
    );
    const folder = dirname(dirname(file));
    writeFileSync(join(folder, ".env"), "IN_FILE='a b'\n# no\nURL=other\n");
    // The only server of a file need not be named.
    const { code, stdout, stderr } = await run(["call", "get-env", "--config", file]);
    expect([code, stderr.match(/anywire:.*/)]).toEqual([0, null]);
    expect(JSON.parse(stdout)).toMatchObject({ FOLDER: folder, IN_FILE: "a b", URL: "a://b,]" });
  });

  it("send the headers of a url, unless the command line has its own", async () => {
    const bridge = await startBridge([...listen, "--api-key-env", "KEY", ...demo], { KEY: "right" });
    const file = config({
      mcpServers: {
        http: { type: "http", url: bridge.at("Streamable HTTP"), headers: { "X-API-Key": variable("THE_KEY") } },
        sse: { type: "sse", url: bridge.at("HTTP+SSE"), headers: { Authorization: "Bearer right" } },
        wrong: { url: bridge.at("Streamable HTTP"), headers: { authorization: "Bearer wrong" } },
        ws: { url: bridge.at("WebSocket"), headers: { Authorization: "Bearer right" } },
      },
    });
    const ping = (server: string, ...more: string[]): ReturnType<typeof run> =>
      run(["ping", "--json", "--config", file, "--server", server, ...more], { env: { THE_KEY: "right" } });
    for (const server of ["http", "sse", "ws"]) expect(await ping(server), server).toMatchObject({ code: 0 });
    const refused = await ping("wrong");
    expect(refused.code).toBe(4);
    expect(refused.stderr + refused.stdout).not.toContain("Bearer wrong");
    expect(await ping("wrong", "--header", "Authorization: Bearer right")).toMatchObject({ code: 0 });
    expect(await ping("wrong", "--token-env", "THE_KEY")).toMatchObject({ code: 0 });
  });

  it("name the server of a bridge, of schema and of tokens too", async () => {
    const file = config({ mcpServers: { mine: { command: node, args: [anywire, "demo"] } } });
    const bridge = await startBridge([...listen, "--config", file, "--server", "mine"]);
    expect(bridge.said).toContain("mine is now at");
    const { tools } = await (await overHttp(bridge.at("Streamable HTTP"))).listTools();
    expect(tools.map(({ name }) => name)).toContain("echo");
    expect(jsonLines((await run(["tokens", "--json", "--config", file])).stdout)).toHaveLength(2);
    expect(await run(["schema", "to-proto", "-o", scratch(), "--config", file, "--server", "mine"])).toMatchObject({ code: 0 });
  });

  const two = { mcpServers: { filesystem: { command: "true" }, github: { url: "http://127.0.0.1:1" } } };
  const secret = "hush-hush";
  it.each([
    ["no name among several", two, [], "has several servers, choose one with --server: filesystem, github"],
    ["a wrong name", two, ["--server", "fileystem"], 'has no server "fileystem"; it has filesystem, github'],
    ["a name of Object", two, ["--server", "constructor"], 'has no server "constructor"; it has filesystem, github'],
    ["a second server", two, ["--server", "github", "--", "true"], "--config and -- each name a server"],
    ["no servers", {}, ["--server", "x"], 'has no servers under "mcpServers" or "servers"'],
    ["an entry without either", { servers: { x: {} } }, [], '"x" has neither a command nor a url'],
    [
      "a variable that is not set",
      { servers: { x: { command: variable("NO_SUCH") } } },
      [],
      `uses ${variable("NO_SUCH")}, which is a variable that is not set`,
    ],
    [
      "an input of VS Code",
      { servers: { x: { command: "a", args: [variable("input:k")] } } },
      [],
      `uses ${variable("input:k")}, which only its own client knows`,
    ],
    ["no JSON", `{"servers": {"x": {"env": {"KEY": "${secret}"}}`, [], "is not JSON"],
  ] as const)("%s is told, and nothing is started", async (_what, text, words, told) => {
    const file = config(text);
    const { code, stdout, stderr } = await run(["tools", "--config", file, ...words]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(told);
    expect(stderr).not.toContain(secret);
  });

  it("need each other, and a file that is there", async () => {
    expect((await run(["tools", "--server", "x"])).stderr).toBe("anywire: --server names a server of a file: give --config <file> too\n");
    expect((await run(["bridge", "--config", "/no/such"])).stderr).toBe("anywire: --config: there is no file /no/such\n");
  });
});
