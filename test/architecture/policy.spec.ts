import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const src = join(import.meta.dirname, "../../src");
const page = readFileSync(join(src, "../docs/architecture.md"), "utf8");

describe('"Where to change what"', () => {
  const section = page.split(/^## /m).find((part) => part.startsWith("Where to change what\n")) ?? "";
  const rows = [...section.matchAll(/^\| ([^|]+) \| `([^`]+)` \| `([^`]+)` \|$/gm)].map(([, what, file, name]) => ({ what, file, name }));

  it("has a row for each of the 42 behaviours", () => {
    expect(rows.length).toBe(42);
  });

  it.each(rows)("$what: $file has $name", ({ file = "", name = "" }) => {
    expect(existsSync(join(src, file))).toBe(true);
    // Declared there, or made there as a member; not just imported.
    const text = readFileSync(join(src, file), "utf8").replaceAll(/^import [^;]*;$/gm, "");
    expect(text).toMatch(new RegExp(`\\b(?:const|function|class) ${name}\\b|\\b${name}:|new ${name}\\b`));
  });
});

const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".spec.ts") && !/^codec.gen/.test(path))
  .map((path) => [path.replaceAll("\\", "/"), readFileSync(join(src, path), "utf8")] as const);
const having = (pattern: RegExp): string[] => sources.filter(([, text]) => pattern.test(text)).map(([path]) => path);

it("every file that the page names is there", () => {
  const folders = readdirSync(src, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const named = [...page.matchAll(new RegExp(`\`((?:${folders.join("|")})/[\\w./-]+)\``, "g"))].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((path) => !existsSync(join(src, path)))).toEqual([]);
});

it("only io/port listens, and the two that the page names", () => {
  const listening = having(/^import (?!type)[^;]*\bcreate(?:Secure)?Server\b[^;]* from "node:(?:net|tls|https?|http2)"/m);
  expect(listening.filter((path) => !path.startsWith("io/port/")).sort()).toEqual(["cli/bridge/listen.ts", "oauth/callback.ts"]);
});

it("the codes of JSON-RPC errors are in core/faults/json-rpc.ts alone", () => {
  // The contract's are those of its own service. Comments may name a code.
  const numbered = sources.filter(([, text]) => /-3[123]\d{3}\b/.test(text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")));
  expect(numbered.map(([path]) => path).filter((path) => !path.startsWith("contract/"))).toEqual(["core/faults/json-rpc.ts"]);
});

describe("the era of a request", () => {
  it("is found out in core/versions.ts alone: no other file names a version", () => {
    // The tables of faults are by revision.
    expect(having(/"20\d\d-\d\d-\d\d"/).filter((path) => !/^core\/faults\/|^cli\/ask\//.test(path))).toEqual(["core/versions.ts"]);
  });

  it("is told by the version in _meta, which only these files read: to decide, to check it and to mirror it in headers", () => {
    expect(having(/(\[meta\.protocolVersion\](?!:| = ))|meta\.protocolVersion in/).sort()).toEqual(
      ["core/versions.ts", "era/envelope.ts", "wires/http/dial/headers.ts", "wires/http/headers.ts"].sort(),
    );
  });
});
