import { connecting, json } from "./options.js";
import type { CommandSpec } from "./types.js";

export const schemaCommand: CommandSpec = {
  name: "schema",
  about: "convert the schemas of tools to protobuf and back, and check them for breaking changes",
  target: "or-file",
  positionals: [
    { name: "action", choices: ["to-proto", "to-json", "check"] },
    { name: "file", optional: true },
  ],
  options: [
    { name: "output", short: "o", kind: "text", value: "dir", files: true, about: "the directory of the buf module and its lock file" },
    { name: "package", kind: "text", value: "name", about: "the protobuf package; made from the server's name unless given" },
    { name: "no-formats", kind: "flag", about: "leave formats such as email to comments, and make no rules of them" },
    { name: "message", kind: "text", value: "name", about: "to-json: the message to convert; all that are not nested unless given" },
    { name: "depth", kind: "whole", value: "N", about: "to-json: for clients without $ref, write out a message within itself N times" },
    json,
    ...connecting,
  ],
  notes: [
    "to-proto writes a file for each tool, and all that buf needs to build and lint them without a network. The tools come from a server, or from a file with the result of tools/list. Field numbers are kept in anywire.lock.json; commit it.",
    "to-json reads a descriptor set, such as buf build -o set.binpb makes, and prints JSON Schemas.",
    "check says what has changed since the lock file in the directory was written. The exit code is 1 if a change breaks clients.",
  ],
  examples: [
    "anywire schema to-proto https://example.com/mcp -o proto",
    "anywire schema to-proto tools.json -o proto --package acme.search.v1",
    "anywire schema check -o proto -- anywire demo",
    "anywire schema to-json set.binpb --message acme.search.v1.QueryRequest",
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
