import { connecting, json } from "./options.js";
import type { CommandSpec } from "./types.js";

export const schemaCommand: CommandSpec = {
  name: "schema",
  about: "convert the schemas of tools to protobuf and back, check, fetch and serve them",
  target: "or-file",
  positionals: [
    { name: "action", choices: ["to-proto", "to-json", "check", "service", "resolve", "serve"] },
    { name: "file", optional: true },
  ],
  options: [
    { name: "output", short: "o", kind: "text", value: "dir", files: true, about: "the directory of the buf module and its lock file" },
    { name: "package", kind: "text", value: "name", about: "the protobuf package (default: made from the server's name)" },
    { name: "no-formats", kind: "flag", about: "leave formats such as email to comments, and make no rules of them" },
    {
      name: "message",
      kind: "text",
      value: "name",
      about: "to-json: the message to convert (default: all that are not nested). resolve: the input message",
    },
    { name: "depth", kind: "whole", value: "N", about: "to-json: for clients without $ref, write out a message within itself N times" },
    {
      name: "registry",
      kind: "text",
      value: "host[=url]",
      many: true,
      about: "resolve: a registry to allow, and its address (default: buf.build)",
    },
    { name: "offline", kind: "flag", about: "resolve: use the cache only" },
    { name: "no-cache", kind: "flag", about: "resolve: read and write no cache on disk" },
    { name: "sha256", kind: "text", value: "hash", about: "resolve: the hash that the descriptors must have" },
    { name: "pin", kind: "text", value: "sha256/key", many: true, about: "resolve: a key that the registry's certificate may have" },
    { name: "listen", kind: "text", value: "url", about: "serve: the address (default: http://127.0.0.1:8000)" },
    { name: "tls-cert", kind: "text", value: "file", files: true, about: "serve: PEM of the certificate to show" },
    { name: "tls-key", kind: "text", value: "file", files: true, about: "serve: PEM of its key" },
    { name: "api-key-env", kind: "text", value: "name", about: "serve: the variable that has the one token to let in" },
    {
      name: "allow-host",
      kind: "text",
      value: "host",
      many: true,
      about: "serve: a name that clients may use for it (default: localhost)",
    },
    { name: "insecure", kind: "flag", about: "serve: listen beyond this machine without TLS or a token, behind a proxy that has both" },
    json,
    ...connecting,
  ],
  notes: [
    "to-proto writes a file for each tool, and all that buf needs to build and lint them without a network. The tools come from a server, or from a file with the result of tools/list. Field numbers are kept in anywire.lock.json; commit it.",
    "to-json reads a descriptor set, such as buf build -o set.binpb makes, and prints JSON Schemas.",
    "check says what has changed since the lock file in the directory was written. The exit code is 1 if a change breaks clients.",
    "service writes the descriptors of mcp.v1.McpService to a file. protoc generates clients and servers in other languages from it: docs/guide/peers.md.",
    "resolve fetches the messages of a tool from a registry and prints where they are from. The reference is buf.build/owner/repository/package.Message:version, or a tool's name instead of the message. It prints the reference to the commit and the hash of the descriptors, which you can pass the next time. The token comes from BUF_TOKEN or .netrc.",
    "serve is a registry for teams that have none. The directory has a descriptor set for each label: owner/repository/label.binpb, as buf build -o writes it. buf and anywire schema resolve can be pointed at it.",
  ],
  examples: [
    "anywire schema to-proto https://example.com/mcp -o proto",
    "anywire schema to-proto tools.json -o proto --package acme.search.v1",
    "anywire schema check -o proto -- anywire demo",
    "anywire schema to-json set.binpb --message acme.search.v1.QueryRequest",
    "anywire schema service mcp.binpb",
    "anywire schema resolve buf.build/acme/tools/acme.tools.v1.SearchRequest:v1",
    "anywire schema serve registry --listen http://127.0.0.1:8000",
    "anywire schema resolve --registry buf.build=http://127.0.0.1:8000 buf.build/acme/tools/search:v1",
  ],
};

export const tokensCommand: CommandSpec = {
  name: "tokens",
  about: "show how many tokens the tools of a server cost a model",
  target: "or-file",
  positionals: [{ name: "file", optional: true }],
  options: [json, ...connecting],
  notes: [
    "Counts with the encodings cl100k_base and o200k_base, for several ways to show the tools. Needs the package gpt-tokenizer: npm install gpt-tokenizer.",
  ],
  examples: ["anywire tokens -- npx -y @modelcontextprotocol/server-everything", "anywire tokens tools.json --json"],
};
