import type { OptionSpec } from "./types.js";

export const helpOption: OptionSpec = { name: "help", short: "h", kind: "flag", about: "show help" };
export const versionOption: OptionSpec = { name: "version", short: "V", kind: "flag", about: "show the version" };

/** Options of every command. */
export const everywhere: readonly OptionSpec[] = [helpOption, versionOption];

export const json: OptionSpec = { name: "json", kind: "flag", about: "for programs: one JSON value a line on stdout" };

export const verbose: OptionSpec = {
  name: "verbose",
  short: "v",
  kind: "flag",
  many: true,
  about: "log each message and the server's stderr on stderr; twice: the bodies too, secrets redacted",
};

/** Options of every command that talks to a server. */
export const connecting: readonly OptionSpec[] = [
  { name: "config", kind: "text", value: "file", files: true, about: "take the server from the configuration of a client" },
  { name: "server", kind: "text", value: "name", about: "its name in that file" },
  { name: "timeout", kind: "duration", value: "duration", about: "give up after 500ms, 30s or 2m (exit code 5)" },
  { name: "era", kind: "choice", value: "era", choices: ["auto", "legacy", "modern"], about: "the protocol era to speak" },
  { name: "root", kind: "text", value: "path", many: true, files: true, about: "offer a directory as a root" },
  {
    name: "env",
    kind: "text",
    value: "name[=value]",
    many: true,
    about: "a variable for the server; without a value, it is copied from this shell (* copies all)",
  },
  { name: "header", kind: "text", value: "name: value", many: true, about: "a header for every request to a URL" },
  { name: "token-env", kind: "text", value: "name", about: "the variable that has the bearer token for a URL" },
  { name: "dialect", kind: "choice", value: "name", choices: ["auto", "mcp.v1", "tunnel"], about: "what to speak over gRPC" },
  { name: "calls", kind: "choice", value: "how", choices: ["session", "rpc"], about: "gRPC calls on one stream, or each as an RPC" },
  {
    name: "http2",
    kind: "choice",
    value: "whose",
    choices: ["own", "node"],
    about: "the HTTP/2 client for gRPC: Anywire's own, or Node's",
  },
  { name: "ca", kind: "text", value: "file", files: true, about: "PEM of the CA that signed the server's certificate" },
  { name: "cert", kind: "text", value: "file", files: true, about: "PEM of the certificate to show the server, with --key" },
  { name: "key", kind: "text", value: "file", files: true, about: "PEM of its key" },
  { name: "cwd", kind: "text", value: "path", files: true, about: "the directory to start the server in" },
  verbose,
];
