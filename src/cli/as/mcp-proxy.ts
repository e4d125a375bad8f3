import { misuse } from "../session/mistake.js";
import { shellWords } from "./shell-words.js";
import { type Composed, duration, type ForeignArgs, type ForeignProgram, sameOption, turnedOn } from "./types.js";

export const mcpProxy: ForeignProgram = {
  name: "mcp-proxy",
  version: "6.7.19",
  variables: "MCP_PROXY",
  wordsAreCommand: true,
  flags: [
    { name: "apiKey", takes: "value", ours: "`--api-key-env`; `X-API-Key` and `Authorization: Bearer` are both taken" },
    { name: "connectionTimeout", takes: "value", ...duration("connect-timeout", "ms") },
    { name: "corsAddAllowedHeader", takes: "list", ignored: "pages may send every header of MCP, Authorization and X-API-Key" },
    { name: "debug", takes: "switch", ...turnedOn("verbose") },
    { name: "endpoint", takes: "value", ours: "the path of `--listen`" },
    { name: "eventStore", takes: "switch", ignored: "streams can be resumed always, within bounds" },
    { name: "eventStoreMaxEvents", takes: "value", ignored: "what is kept for resuming is bounded in events and characters" },
    { name: "gracefulShutdownTimeout", takes: "value", ...duration("drain", "ms") },
    { name: "host", takes: "value", ours: "the host of `--listen`; beyond this machine with `--insecure`" },
    { name: "keepAliveTimeout", takes: "value", ignored: "connections stay open while they are used" },
    {
      name: "maxBodySize",
      takes: "value",
      ours: "`--max-body`",
      give: (value) => (Number(value) === 0 ? ["--max-body", "1gib"] : ["--max-body", value]),
    },
    { name: "modern", takes: "switch", ignored: "both eras are served always" },
    { name: "port", takes: "value", ours: "the port of `--listen`" },
    { name: "requestTimeout", takes: "value", ...duration("timeout", "ms") },
    { name: "server", takes: "value", ours: "`--listen sse+http://` for `sse`, `--listen http://` for `stream`" },
    {
      name: "sessionIdleTimeout",
      takes: "value",
      ours: "`--idle-timeout`",
      give: (value) => (Number(value) === 0 ? ["--idle-timeout", "500h"] : ["--idle-timeout", `${value}ms`]),
    },
    { name: "shell", takes: "switch", ours: "`-- sh -c '<command>'`" },
    { name: "sseEndpoint", takes: "value", ours: "the path of `--listen sse+http://`" },
    { name: "sslCa", takes: "value", ignored: "mcp-proxy asks no client for a certificate; --tls-ca does" },
    { name: "sslCert", takes: "value", ...sameOption("tls-cert") },
    { name: "sslKey", takes: "value", ...sameOption("tls-key") },
    { name: "stateless", takes: "switch", ...turnedOn("stateless") },
    { name: "streamEndpoint", takes: "value", ours: "the path of `--listen http://`" },
    { name: "tunnel", takes: "switch", refused: "there is no public tunnel here; put a proxy or a tunnel of your own in front" },
    { name: "tunnelSubdomain", takes: "value", refused: "there is no public tunnel here" },
    { name: "upstreamProtocol", takes: "value", ...sameOption("era") },
  ],
  compose(given): Composed {
    const words = given.command ?? given.words;
    if (words.length === 0) throw misuse("the command that starts the server is missing");
    const key = given.text("apiKey");
    const host = given.text("host");
    const beyond = host !== undefined && !/^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host);
    return {
      args: [
        ...listenAt(given, host ?? "127.0.0.1"),
        ...(beyond ? ["--insecure"] : []),
        ...(key === undefined ? [] : ["--api-key-env", "MCP_PROXY_API_KEY"]),
        "--env",
        "*",
      ],
      command: given.text("shell") === "true" ? ["sh", "-c", words.join(" ")] : words.length === 1 ? shellWords(words[0] ?? "") : words,
      notes: [...(host === undefined ? ["mcp-proxy listens on every interface; this listens on 127.0.0.1 (--host opens it)"] : [])],
      ...(key === undefined ? undefined : { env: { MCP_PROXY_API_KEY: key } }),
    };
  },
};

function listenAt(given: ForeignArgs, host: string): readonly string[] {
  const secure = given.has("sslCert") ? "s" : "";
  const authority = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${given.text("port") ?? "8080"}`;
  const stream = given.text("streamEndpoint") ?? given.text("endpoint") ?? "/mcp";
  const sse = given.text("sseEndpoint") ?? given.text("endpoint") ?? "/sse";
  switch (given.text("server")) {
    case undefined:
      if (stream !== "/mcp" || sse !== "/sse")
        throw misuse("with a path of your own, say which server it is for: --server stream or --server sse");
      return ["--listen", `any${secure}://${authority}`];
    case "sse":
      return ["--listen", `sse+http${secure}://${authority}${sse}`];
    case "stream":
      return ["--listen", `http${secure}://${authority}${stream}`];
    default:
      throw misuse("--server takes sse or stream");
  }
}
