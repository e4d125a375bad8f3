import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** Which folders of src each folder may import: upwards in this table only. */
const rules: Record<string, readonly string[]> = {
  stream: [],
  core: ["stream"],
  codec: ["core", "stream"],
  era: ["core", "stream", "codec"],
  io: ["core", "stream", "codec"],
  schema: ["core", "stream", "codec", "io"],
  "wires/memory": ["core", "stream", "codec", "era", "io"],
  "wires/stdio": ["core", "stream", "codec", "era", "io"],
  "wires/http": ["core", "stream", "codec", "era", "io"],
  "wires/sse": ["core", "stream", "codec", "era", "io"],
  "wires/websocket": ["core", "stream", "codec", "era", "io"],
  "wires/grpc": ["core", "stream", "codec", "era", "io"],
  "wires/lines": ["core", "stream", "codec", "era", "io"],
  "wires/protomcp": ["core", "stream", "codec", "era", "io"],
  typed: ["core", "stream", "codec", "schema"],
  api: [
    "core",
    "stream",
    "codec",
    "era",
    "io",
    "schema",
    "wires/memory",
    "wires/stdio",
    "wires/http",
    "wires/sse",
    "wires/websocket",
    "wires/grpc",
    "wires/lines",
    "wires/protomcp",
  ],
  browser: ["core", "stream", "codec", "era", "io", "wires/http", "wires/websocket", "wires/grpc"],
  bridge: [
    "core",
    "stream",
    "codec",
    "era",
    "io",
    "wires/memory",
    "wires/stdio",
    "wires/http",
    "wires/sse",
    "wires/websocket",
    "wires/grpc",
    "wires/lines",
    "wires/protomcp",
    "api",
  ],
  sdk: ["core", "stream", "codec", "era", "wires/memory", "api"],
  oauth: ["core", "stream", "codec", "era", "io", "wires/http"],
  contract: ["core", "stream"],
  observe: ["core", "stream"],
  demo: ["core", "stream", "api"],
  cli: ["core", "stream", "schema", "api", "oauth", "bridge", "observe", "demo"],
};
/** Folders without Node: they run in a browser as they are. */
const pure = ["stream", "core", "codec", "era", "wires/memory", "contract", "observe", "browser"];

/** Parts that only some load have a door of their own beside the index. */
const doors: readonly string[] = [
  "codec/protobuf/index.js",
  "codec/mcpv1/index.js",
  "codec/bufmcpv1/index.js",
  "codec/gen/index.js",
  "codec/gen/validate.js",
  "codec/gen/registry.js",
  // These need nothing of Node, unlike the index beside them.
  "io/grpc/portable.js",
  "wires/http/dial/over.js",
  "wires/websocket/link.js",
  "wires/grpc/dial/connect.js",
];

const src = resolve(import.meta.dirname, "../../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const folderOf = (file: string): string => Object.keys(rules).find((folder) => file.startsWith(`${folder}/`)) ?? "";
const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((match) => match[1] as string);

describe("the architecture", () => {
  it("sees the files", () => {
    expect(files.length).toBeGreaterThan(60);
    for (const folder of Object.keys(rules)) expect(files.some((file) => folderOf(file) === folder)).toBe(true);
    expect(files.filter((file) => folderOf(file) === "")).toEqual([]);
  });

  it("imports upwards only, and other folders through their index", () => {
    const broken: string[] = [];
    for (const file of files) {
      const folder = folderOf(file);
      for (const specifier of importsOf(file)) {
        if (!specifier.startsWith(".")) continue;
        const target = relative(src, resolve(src, dirname(file), specifier));
        const other = folderOf(target);
        if (other === folder || file.endsWith(".spec.ts")) continue;
        if (!(rules[folder] ?? []).includes(other)) broken.push(`${file} imports ${target}`);
        else if (target !== `${other}/index.js` && !doors.includes(target))
          broken.push(`${file} imports ${target}, past the index of ${other}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it("keeps Node out of the pure folders", () => {
    const broken = files.filter(
      (file) =>
        pure.includes(folderOf(file)) && !file.endsWith(".spec.ts") && importsOf(file).some((specifier) => specifier.startsWith("node:")),
    );
    expect(broken).toEqual([]);
  });

  it("has the same rule in the project references", () => {
    for (const [folder, allowed] of Object.entries(rules)) {
      const config = JSON.parse(readFileSync(join(src, folder, "tsconfig.json"), "utf8")) as { references: { path: string }[] };
      const referenced = config.references.map(({ path }) => relative(src, resolve(src, folder, path)));
      expect(referenced.filter((path) => !allowed.includes(path))).toEqual([]);
    }
  });
});
