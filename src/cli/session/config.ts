import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { JsonObject } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import { codeOf } from "../../stream/index.js";
import type { Input, Options } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { misuse } from "./mistake.js";

/** The server that `--config` and `--server` name, as if it had been given on the command line. Options that are also given there win. */
export async function configured(input: Input): Promise<Input> {
  const { options } = input;
  const file = options.text("config");
  if (file === undefined) {
    if (options.has("server")) throw misuse("--server names a server of a file: give --config <file> too");
    return input;
  }
  const servers = serversOf(await configText(file), file);
  const [name, entry] = chosen(servers, options.text("server"), file);
  const read = (value: unknown): string => expanded(String(value), file, name);
  const texts = (value: unknown): [key: string, text: string][] =>
    Object.entries(isObject(value) ? value : {}).map(([key, each]) => [key, read(each)]);
  const { command, args, url, type } = entry;
  if (typeof command === "string") {
    const given = typeof entry["envFile"] === "string" ? Object.entries(parseEnv(await configText(read(entry["envFile"])))) : [];
    const env = [...given, ...texts(entry["env"])].map(([key, value]) => `${key}=${value ?? ""}`);
    const cwd = typeof entry["cwd"] === "string" ? [read(entry["cwd"])] : [];
    const words = Array.isArray(args) ? args.map(read) : [];
    return { ...input, target: { command: read(command), args: words }, options: options.after({ env, cwd }) };
  }
  const address = url ?? entry["serverUrl"];
  if (typeof address !== "string") throw misuse(`${file}: ${JSON.stringify(name)} has neither a command nor a url`);
  const header = texts(entry["headers"]).filter(([key]) => !isGiven(options, key));
  return {
    ...input,
    target: type === "sse" ? read(address).replace(/^http/i, "sse+http") : read(address),
    options: options.after({ header: header.map(([key, value]) => `${key}: ${value}`) }),
  };
}

/** Whether the command line sets this header. */
function isGiven(options: Options, header: string): boolean {
  const name = header.toLowerCase();
  if (name === "authorization" && options.has("token-env")) return true;
  return options.texts("header").some((line) => line.split(":")[0]?.trim().toLowerCase() === name);
}

async function configText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw misuse(codeOf(error) === "ENOENT" ? `--config: there is no file ${file}` : `--config: cannot read ${file} (${codeOf(error)})`);
  }
}

/** The servers by name: `mcpServers` of most clients, `servers` of VS Code, or `mcp.servers` of its settings. */
function serversOf(text: string, file: string): JsonObject {
  const config = parsed(text, file);
  const settings = isObject(config) && isObject(config["mcp"]) ? config["mcp"] : config;
  const servers = isObject(settings) ? (settings["mcpServers"] ?? settings["servers"]) : undefined;
  if (!isObject(servers) || Object.keys(servers).length === 0) throw misuse(`${file} has no servers under "mcpServers" or "servers"`);
  return servers;
}

/** Parses JSON with comments and trailing commas, as VS Code allows. Errors do not quote the text, which may be a secret. */
function parsed(text: string, file: string): unknown {
  const bare = text
    .replace(/^\uFEFF/, "")
    .replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith('"') ? part : part.replace(/[^\n]/g, " ")))
    .replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, (part) => (part === "," ? " " : part));
  try {
    return JSON.parse(bare);
  } catch (error) {
    const [where] = /line \d+ column \d+/.exec(error instanceof Error ? error.message : "") ?? [];
    throw misuse(`${file} is not JSON${where === undefined ? "" : ` (${where})`}`);
  }
}

function chosen(servers: JsonObject, wanted: string | undefined, file: string): [name: string, entry: JsonObject] {
  const names = Object.keys(servers);
  const name = wanted ?? (names.length === 1 ? names[0] : undefined);
  const list = names.map((each) => cleanLine(each)).join(", ");
  if (name === undefined) throw misuse(`${file} has several servers, choose one with --server: ${list}`);
  const entry = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (!isObject(entry)) throw misuse(`${file} has no server ${JSON.stringify(name)}; it has ${list}`);
  return [name, entry];
}

/** Expands variables as clients write them: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${userHome}`, `${workspaceFolder}`. */
function expanded(text: string, file: string, server: string): string {
  return text.replace(/\$\{([^}]*)\}/g, (_whole, inside: string) => {
    if (inside === "userHome") return homedir();
    if (inside === "workspaceFolder") return workspaceOf(file);
    const [, variable = "", fallback] = /^(?:env:)?(\w+)(?::-(.*))?$/s.exec(inside) ?? [];
    const value = process.env[variable] || fallback;
    if (value !== undefined) return value;
    const why = variable === "" ? "only its own client knows" : "is a variable that is not set";
    throw misuse(`${file}: ${JSON.stringify(server)} uses \${${cleanLine(inside)}}, which ${why}`);
  });
}

/** The project folder. The file may be in a client's own folder within it. */
function workspaceOf(file: string): string {
  const folder = dirname(resolve(file));
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
}
