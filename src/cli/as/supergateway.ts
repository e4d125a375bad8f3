import { misuse } from "../session/mistake.js";
import { shellWords } from "./shell-words.js";
import { type Composed, duration, type ForeignArgs, type ForeignProgram, sameOption } from "./types.js";

const levels: Readonly<Record<string, readonly string[]>> = { debug: ["--verbose"], info: [], none: ["--log", "none"] };

function level(name: string): readonly string[] {
  const args = Object.hasOwn(levels, name) ? levels[name] : undefined;
  if (args === undefined) throw misuse(`--logLevel takes ${Object.keys(levels).join(", ")}, not ${JSON.stringify(name)}`);
  return args;
}

export const supergateway: ForeignProgram = {
  name: "supergateway",
  version: "4.0.0",
  flags: [
    { name: "stdio", takes: "value", ours: "`--` and the command; through a shell only where it needs one" },
    { name: "sse", takes: "value", ours: "`sse+<url>`" },
    { name: "streamableHttp", takes: "value", ours: "`<url>`" },
    { name: "outputTransport", takes: "value", ours: "`--listen` with `stdio:`, `sse+http://`, `ws://` or `http://`" },
    { name: "port", takes: "value", ours: "the port of `--listen`" },
    { name: "baseUrl", takes: "value", ours: "`--public-url`, with the path of `--listen`" },
    { name: "ssePath", takes: "value", ours: "the path of `--listen sse+http://`" },
    { name: "messagePath", takes: "value", ours: "the path of `--listen ws://`; over SSE the stream names the path itself" },
    { name: "streamableHttpPath", takes: "value", ours: "the path of `--listen http://`" },
    { name: "logLevel", takes: "value", ours: "`--verbose` for `debug`, `--log none` for `none`", give: level },
    { name: "cors", takes: "list", ours: "`--allow-origin`, `*` without a value" },
    { name: "healthEndpoint", takes: "list", ...sameOption("health") },
    { name: "header", takes: "list", ours: "`--header`, for a URL" },
    { name: "oauth2Bearer", takes: "value", ours: "`--token-env`" },
    { name: "stateful", takes: "switch", ignored: "clients that open a session always have one" },
    { name: "sessionTimeout", takes: "value", ...duration("idle-timeout", "ms") },
    { name: "protocolVersion", takes: "value", ignored: "the version is agreed on with each client" },
  ],
  compose(given): Composed {
    const sources = ["stdio", "sse", "streamableHttp"].filter((flag) => given.has(flag));
    if (sources.length !== 1) throw misuse("give one of --stdio, --sse and --streamableHttp");
    if (given.words.length > 0)
      throw misuse(`supergateway takes no ${JSON.stringify(given.words[0])}; a command with spaces goes in quotes`);
    const command = given.text("stdio");
    const args = [...listenAt(given, command === undefined ? "stdio" : "sse"), ...origins(given)];
    if (command !== undefined) {
      const lost = given.has("header") || given.has("oauth2Bearer") ? ["--header and --oauth2Bearer are for a URL, and there is none"] : [];
      return { args: [...args, "--env", "*"], command: shellWords(command), notes: [...lost, ...loopbackNote(args)] };
    }
    const token = given.text("oauth2Bearer");
    return {
      args: [
        ...args,
        ...given.list("header").flatMap((header) => ["--header", header]),
        ...(token === undefined ? [] : ["--token-env", "SUPERGATEWAY_OAUTH2_BEARER"]),
        "--to",
        given.text("streamableHttp") ?? `sse+${given.text("sse")}`,
      ],
      notes: loopbackNote(args),
      ...(token === undefined ? undefined : { env: { SUPERGATEWAY_OAUTH2_BEARER: token } }),
    };
  },
};

function listenAt(given: ForeignArgs, otherwise: string): readonly string[] {
  const port = given.text("port") ?? "8000";
  const at = (scheme: string, path: string): readonly string[] => ["--listen", `${scheme}://127.0.0.1:${port}${path}`];
  const transports: Readonly<Record<string, readonly string[]>> = {
    stdio: ["--listen", "stdio:"],
    sse: at("sse+http", given.text("ssePath") ?? "/sse"),
    ws: at("ws", given.text("messagePath") ?? "/message"),
    streamableHttp: at("http", given.text("streamableHttpPath") ?? "/mcp"),
  };
  const chosen = given.text("outputTransport") ?? otherwise;
  const found = transports[chosen];
  const base = given.text("baseUrl")?.replace(/\/+$/, "");
  if (found === undefined) throw misuse(`--outputTransport takes stdio, sse, ws or streamableHttp, not ${JSON.stringify(chosen)}`);
  const path = /:\d+(\/.*)$/.exec(found[1] ?? "")?.[1];
  return base === undefined || path === undefined ? found : [...found, "--public-url", `${base}${path}`];
}

function origins(given: ForeignArgs): readonly string[] {
  if (!given.has("cors")) return [];
  const list = given.list("cors").filter((origin) => origin !== "");
  const pattern = list.find((origin) => origin.startsWith("/"));
  if (pattern !== undefined)
    throw misuse(`--cors ${pattern}: a regular expression is not taken here; name the origins, or https://*.example.com`);
  return (list.length === 0 ? ["*"] : list).flatMap((origin) => ["--allow-origin", origin]);
}

function loopbackNote(args: readonly string[]): readonly string[] {
  return args.includes("stdio:")
    ? []
    : ["supergateway listens on every interface; this listens on 127.0.0.1 (see --listen and --insecure)"];
}
