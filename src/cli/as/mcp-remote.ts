import { readFileSync } from "node:fs";
import { isObject } from "../../core/index.js";
import { codeOf } from "../../stream/index.js";
import { misuse } from "../session/mistake.js";
import { type Composed, duration, type ForeignArgs, type ForeignProgram, sameOption, turnedOn } from "./types.js";

const noBrowserOnly = "this way of signing in is not built in; give a token with --token-env or --header";

export const mcpRemote: ForeignProgram = {
  name: "mcp-remote",
  version: "0.15.1",
  flags: [
    {
      name: "header",
      takes: "value",
      ours: "`--header`; the variables that it names are put in",
      give: (value) => ["--header", expanded(value)],
    },
    { name: "header-file", takes: "value", ours: "`--header` for each line", give: headerLines },
    { name: "host", takes: "value", ours: "the host of `--callback-url`" },
    { name: "callback-path", takes: "value", ours: "the path of `--callback-url` (default: `/oauth/callback`)" },
    { name: "auth-success-url", takes: "value", ignored: "the page after signing in is a plain one" },
    { name: "allow-http", takes: "switch", ignored: "http:// is taken as it is" },
    { name: "debug", takes: "switch", ...turnedOn("verbose") },
    { name: "silent", takes: "switch", ours: "`--log none`", give: (value) => (value === "false" ? [] : ["--log", "none"]) },
    { name: "enable-proxy", takes: "switch", refused: "outgoing proxies are not supported" },
    {
      name: "ignore-tool",
      takes: "value",
      ours: "`--deny-tool`, for letters of either case",
      give: (value) => ["--deny-tool", `(?i)${value.replaceAll(/[\\?{}]/g, "\\$&")}`],
    },
    { name: "auth-timeout", takes: "value", ...duration("sign-in-timeout", "s") },
    { name: "connect-timeout", takes: "value", ...duration("connect-timeout", "s") },
    { name: "headers-timeout", takes: "value", ignored: "--timeout limits a call" },
    { name: "body-timeout", takes: "value", ignored: "a stream may be silent as long as its connection is alive" },
    { name: "keep-alive", takes: "switch", ignored: "connections are kept alive always" },
    { name: "ping-interval", takes: "value", ignored: "connections are kept alive always" },
    { name: "ipv4", takes: "switch", ignored: "both families are tried, whichever answers first" },
    {
      name: "transport",
      takes: "value",
      ours: "`sse+<url>` for `sse-only`; else `<url>`, which falls back to SSE by itself",
    },
    { name: "protocol", takes: "value", ...sameOption("era") },
    { name: "resource", takes: "value", refused: "the resource of a token is always the server's URL" },
    { name: "disable-resource-parameter", takes: "switch", refused: "the resource of a token is always the server's URL" },
    { name: "authorize-param", takes: "value", refused: noBrowserOnly },
    { name: "static-oauth-client-info", takes: "value", ours: "`--client-id` and `--client-secret-env`" },
    { name: "static-oauth-client-metadata", takes: "value", ours: "`--scope` for its `scope`" },
    { name: "client-metadata-url", takes: "value", ...sameOption("client-metadata-url") },
    { name: "client-credentials", takes: "switch", ...turnedOn("client-credentials") },
    { name: "token-endpoint", takes: "value", refused: noBrowserOnly },
    { name: "device-code", takes: "switch", refused: noBrowserOnly },
    { name: "use-id-token", takes: "switch", refused: noBrowserOnly },
    { name: "disable-cookies", takes: "switch", ignored: "cookies are not kept" },
  ],
  compose(given): Composed {
    const [url, port, ...more] = given.words;
    if (url === undefined || more.length > 0) throw misuse("mcp-remote takes a URL, and the port that the browser comes back to");
    const { client, env } = clientOf(given);
    const scope = jsonOf(given, "static-oauth-client-metadata")?.["scope"];
    return {
      args: [
        "--listen",
        "stdio:",
        // The client may be registered with the URL that mcp-remote has.
        "--callback-url",
        `http://${given.text("host") ?? "localhost"}${port === undefined ? "" : `:${port}`}${given.text("callback-path") ?? "/oauth/callback"}`,
        ...client,
        ...(typeof scope === "string" ? scope.split(" ").flatMap((each) => ["--scope", each]) : []),
        "--to",
        given.text("transport") === "sse-only" ? `sse+${url}` : url,
      ],
      notes: unset(given),
      env,
    };
  },
};

/** A header without its variable is sent without the value, as by mcp-remote. Nothing else would tell why the server refuses it. */
function unset(given: ForeignArgs): readonly string[] {
  const texts = [...given.list("header"), ...given.list("header-file").flatMap((file) => readLines(file))];
  const names = texts.flatMap((text) => [...text.matchAll(variable)].map(([, name = ""]) => name));
  const missing = [...new Set(names)].filter((name) => process.env[name] === undefined);
  return missing.map((name) => `a header names \${${name}}, and no such variable is set; it is sent without it`);
}

function clientOf(given: ForeignArgs): { readonly client: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  const info = jsonOf(given, "static-oauth-client-info");
  if (info === undefined) return { client: [], env: {} };
  const { client_id: id, client_secret: secret } = info;
  if (typeof id !== "string") throw misuse("--static-oauth-client-info has no client_id");
  if (typeof secret !== "string") return { client: ["--client-id", id], env: {} };
  return { client: ["--client-id", id, "--client-secret-env", "MCP_REMOTE_CLIENT_SECRET"], env: { MCP_REMOTE_CLIENT_SECRET: secret } };
}

/** Reads JSON, or `@file` with JSON. */
function jsonOf(given: ForeignArgs, flag: string): Readonly<Record<string, unknown>> | undefined {
  const text = given.text(flag);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(expanded(text.startsWith("@") ? readFileSync(text.slice(1), "utf8") : text));
    if (isObject(value)) return value;
  } catch {
    // The text may hold a secret, and so may the parser's error.
  }
  throw misuse(`--${flag} takes a JSON object, or @ and the name of a file with one`);
}

const variable = /\$\{(\w+)\}/g;

function expanded(text: string): string {
  return text.replaceAll(variable, (_whole, name: string) => process.env[name] ?? "");
}

function headerLines(file: string): readonly string[] {
  return readLines(file).flatMap((line) => ["--header", expanded(line)]);
}

function readLines(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw misuse(`--header-file ${file}: cannot be read (${codeOf(error)})`);
  }
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}
