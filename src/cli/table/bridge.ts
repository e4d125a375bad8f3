import { connecting, verbose } from "./options.js";
import type { CommandSpec, OptionSpec } from "./types.js";

/** The programs whose flags `--as` accepts. */
export const stoodInFor = ["supergateway", "mcp-proxy", "mcp-remote"] as const;

const shared = (name: string, about?: string): OptionSpec => {
  const found = connecting.find((option) => option.name === name);
  if (found === undefined) throw new TypeError(`there is no option ${name}`);
  return about === undefined ? found : { ...found, about };
};
const under = (group: string, ...options: readonly OptionSpec[]): OptionSpec[] => options.map((option) => ({ ...option, group }));

const listening: readonly OptionSpec[] = [
  {
    name: "listen",
    kind: "text",
    value: "url",
    many: true,
    about: "an address to serve at, stdio: included (default: every wire on 127.0.0.1:8000)",
  },
  { name: "tls-cert", kind: "text", value: "file", files: true, about: "PEM of the certificate to show" },
  { name: "tls-key", kind: "text", value: "file", files: true, about: "PEM of its key" },
  { name: "tls-ca", kind: "text", value: "file", files: true, about: "let in only clients with a certificate that this one signed" },
  { name: "insecure", kind: "flag", about: "listen beyond this machine without TLS or credentials, behind a proxy that has both" },
  { name: "public-url", kind: "text", value: "url", about: "where clients reach it through a proxy; its host is allowed" },
  { name: "base-path", kind: "text", value: "path", about: "put the paths of HTTP, HTTP+SSE and WebSocket below this one" },
  { name: "stateless", kind: "flag", about: "no sessions over HTTP: each request stands alone" },
  {
    name: "snippet",
    kind: "choice",
    value: "client",
    choices: ["claude", "cursor", "vscode", "none"],
    about: "what to print for pasting into a client",
  },
];

const upstream: readonly OptionSpec[] = [
  { name: "to", kind: "text", value: "url", about: "the server, instead of a URL at the end" },
  { name: "demo", kind: "flag", about: "the demo server, shown on four wires" },
  ...["config", "server", "env", "cwd", "header", "token-env", "era", "dialect", "calls", "http2", "ca", "cert", "key"].map((name) =>
    shared(name),
  ),
  { name: "connect-timeout", kind: "duration", value: "duration", about: "how long the server may take to start (default: 60s)" },
  { name: "lazy", kind: "flag", about: "start the server with the first call" },
  { name: "idle-stop", kind: "duration", value: "duration", about: "stop the server after it was unused for this time" },
];

const sessions: readonly OptionSpec[] = [
  {
    name: "sessions",
    kind: "text",
    value: "mode",
    about: "how clients share the server: auto (the default), shared, own or pool=N",
  },
  {
    name: "offer",
    kind: "text",
    value: "list",
    about: "what a shared session says it can be asked: elicitation, sampling, roots (the default, all three) or none",
  },
  shared("timeout", "how long a call may take: 500ms, 30s or 2m (default: no limit)"),
  { name: "rate", kind: "text", value: "n/unit", about: "calls of one client: 100/s, 600/m (default: no limit)" },
  { name: "tool-rate", kind: "text", value: "n/unit", about: "calls of one tool by one client" },
  {
    name: "seal-key",
    kind: "text",
    value: "file",
    files: true,
    about: "a file with a secret that bridges behind a load balancer share",
  },
  {
    name: "idle-timeout",
    kind: "duration",
    value: "duration",
    about: "end the session of a client that is silent for this time (default: 5m)",
  },
  { name: "keepalive", kind: "duration", value: "duration", about: "time between keepalive messages on a quiet stream" },
  { name: "max-body", kind: "bytes", value: "size", about: "the largest message: 500kb, 10mb (default: 64mib)" },
  { name: "drain", kind: "duration", value: "duration", about: "time for open calls to finish on shutdown (default: 5s)" },
];

const gate: readonly OptionSpec[] = [
  {
    name: "api-keys",
    kind: "text",
    value: "file",
    files: true,
    about: "let in only clients with a key of this file; read again on change",
  },
  { name: "api-key-env", kind: "text", value: "name", about: "the variable that has the one key to let in" },
  { name: "hash-key", kind: "text", value: "name", about: "make a key for that name, print the line for --api-keys, and exit" },
  { name: "allow-origin", kind: "text", value: "origin", many: true, about: "a web page that may call, * for all (default: localhost)" },
  {
    name: "allow-host",
    kind: "text",
    value: "host",
    many: true,
    about: "a name that clients may use for this server (default: localhost)",
  },
  {
    name: "trusted-proxy",
    kind: "text",
    value: "address",
    many: true,
    about: "a proxy whose X-Forwarded-For names the client: address or CIDR",
  },
  { name: "trusted-user", kind: "text", value: "header", about: "the header in which that proxy names the user" },
  { name: "allow-tool", kind: "text", value: "glob", many: true, about: "offer only tools of this name" },
  { name: "deny-tool", kind: "text", value: "glob", many: true, about: "do not offer tools of this name" },
  {
    name: "discover",
    kind: "choice",
    value: "how",
    choices: ["full", "progressive"],
    about: "what a model sees of the tools: all schemas, or an index and two tools that search and describe",
  },
];

const signingIn: readonly OptionSpec[] = [
  { name: "callback-port", kind: "whole", value: "port", about: "the port on 127.0.0.1 that the browser comes back to" },
  { name: "callback-url", kind: "text", value: "url", about: "the whole URL on this machine that it comes back to, if you registered one" },
  { name: "client-id", kind: "text", value: "id", about: "a client that you registered" },
  { name: "client-secret-env", kind: "text", value: "name", about: "the variable that has its secret" },
  { name: "client-credentials", kind: "flag", about: "sign in as that client itself, without a person" },
  { name: "client-metadata-url", kind: "text", value: "url", about: "the client's metadata document, which is its id" },
  { name: "scope", kind: "text", value: "scope", many: true, about: "a scope to ask for besides those that the server names" },
  { name: "sign-in-timeout", kind: "duration", value: "duration", about: "how long to wait for the browser (default: 5m)" },
];

const watching: readonly OptionSpec[] = [
  { name: "health", kind: "text", value: "path", many: true, about: "a path that answers ok while it runs (default: /healthz)" },
  { name: "metrics-tools", kind: "flag", about: "count calls by tool in /metrics, 100 names at most" },
  { name: "no-metrics", kind: "flag", about: "count nothing, and have no /metrics" },
  { name: "log", kind: "choice", value: "form", choices: ["text", "json", "none"], about: "what to write on stderr" },
  { ...verbose, about: "log each call; twice: each message" },
];

export const bridgeCommand: CommandSpec = {
  name: "bridge",
  about: "put a server on every wire: any client, any server, either era",
  target: "optional",
  positionals: [],
  options: [
    ...under("where to listen", ...listening),
    ...under("the server", ...upstream),
    ...under("sessions and limits", ...sessions),
    ...under("who may call what", ...gate),
    ...under("signing in to the server", ...signingIn),
    ...under("watching", ...watching),
    ...under("switching", {
      name: "as",
      kind: "choice",
      value: "program",
      choices: stoodInFor,
      about: "right after bridge: take the flags of that program",
    }),
  ],
  notes: [
    "Prints an address for each wire: Streamable HTTP, HTTP+SSE, WebSocket, gRPC with gRPC-Web and Connect, the tunnel and lines of JSON share one port. If port 8000 is in use it takes the next free one; an address that you give with --listen and that is in use is an error.",
    "With --listen stdio: it is a server on stdin and stdout, for clients that start a command. Then stdout carries JSON-RPC alone.",
    "The first SIGTERM or Ctrl-C takes no more calls and lets those in flight finish; the second exits at once.",
  ],
  examples: [
    "anywire bridge -- npx -y @modelcontextprotocol/server-everything",
    "anywire bridge --listen stdio: https://example.com/mcp",
    "anywire bridge --listen grpc://127.0.0.1:50051 --sessions own -- node server.js",
    "anywire bridge --as supergateway --stdio 'npx -y my-server' --port 8000",
    "anywire bridge --api-keys keys.txt --deny-tool 'delete*' --to http://10.0.0.5/mcp",
  ],
};
