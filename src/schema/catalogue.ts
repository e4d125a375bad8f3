import { createRegistry } from "@bufbuild/protobuf";
import { file_google_protobuf_descriptor } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "../codec/gen/validate.js";
import { parseJson } from "../codec/index.js";
import { Fault, isObject } from "../core/index.js";
import { Names, snakeCase } from "./convert/names.js";
import { type ConvertedTool, convertTool, type ToolSchemas } from "./convert/tool.js";
import { LOCK_FILE, type Lock, type LockedTool, own } from "./lock/lock.js";
import { printFile } from "./print/print.js";

export interface CatalogueOptions {
  readonly package: string;
  /** Field numbers and names to keep. */
  readonly lock?: Lock | undefined;
  /** Whether formats become rules; true unless given. */
  readonly formats?: boolean;
}

/** A catalogue of tools as protobuf. */
export interface Catalogue {
  readonly package: string;
  readonly tools: readonly ConvertedTool[];
  readonly lock: Lock;
}

/** Converts tools one by one, so that progress can be shown. */
export interface CatalogueWriter {
  /** Throws a Fault for a tool that cannot be converted. The others are not affected. */
  add(tool: ToolSchemas): ConvertedTool;
  finish(): Catalogue;
}

export function catalogueWriter(options: CatalogueOptions): CatalogueWriter {
  const { lock } = options;
  if (!/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/.test(options.package))
    throw new Fault("invalid-params", `${JSON.stringify(options.package)} is not a protobuf package; one looks like tools.search.v1`);
  const files = new Names(...Object.values(lock?.tools ?? {}).map(({ file }) => file));
  const tools = new Map<string, ConvertedTool>();
  return {
    add(tool) {
      if (typeof tool.name !== "string") throw new Fault("invalid-params", "a tool has no name");
      if (tools.has(tool.name)) throw new Fault("invalid-params", `the tool ${JSON.stringify(tool.name)} is there twice`);
      const locked = own(lock?.tools, tool.name);
      const file = locked === undefined ? files.take(snakeCase(tool.name)) : undefined;
      const converted = convertTool(tool, { package: options.package, lock: locked, file, formats: options.formats ?? true });
      tools.set(tool.name, converted);
      return converted;
    },
    finish() {
      const all = new Map<string, LockedTool>([...tools].map(([name, tool]) => [name, tool.lock]));
      for (const [name, locked] of Object.entries(lock?.tools ?? {})) if (!all.has(name)) all.set(name, { ...locked, former: true });
      return {
        package: options.package,
        tools: [...tools.values()],
        lock: { version: 1, package: options.package, tools: Object.fromEntries(all) },
      };
    },
  };
}

/** A catalogue as the files of a buf module that builds and lints without network access: path and text. */
export function* moduleFiles(catalogue: Catalogue): Generator<readonly [path: string, text: string]> {
  yield ["buf.yaml", bufYaml];
  yield [
    "buf/validate/validate.proto",
    printFile(file_buf_validate_validate.proto, createRegistry(file_buf_validate_validate, file_google_protobuf_descriptor)),
  ];
  for (const tool of catalogue.tools) yield [tool.path, tool.text()];
  yield [LOCK_FILE, `${JSON.stringify(catalogue.lock, undefined, 2)}\n`];
}

const bufYaml = `version: v2
lint:
  use:
    - STANDARD
  ignore:
    - buf/validate
breaking:
  use:
    - WIRE_JSON
  ignore:
    - buf/validate
`;

/** The tools in a JSON text, with numbers that no double holds, and the name of the server if the text has it. */
export function parseTools(text: string): { readonly tools: ToolSchemas[]; readonly server: string | undefined } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    // What nests too deep to be searched for such numbers is refused tool by tool.
    if (cause instanceof RangeError) value = JSON.parse(text);
    else throw new Fault("invalid-params", "this is not JSON; it has to be the result of tools/list", { cause });
  }
  const info = isObject(value) ? value["serverInfo"] : undefined;
  return { tools: toolsOf(value), server: isObject(info) && typeof info["name"] === "string" ? info["name"] : undefined };
}

/** The tools of a parsed tools/list result, or of a plain array of them. Throws a Fault for anything else. */
export function toolsOf(value: unknown): ToolSchemas[] {
  const list = Array.isArray(value)
    ? value
    : isObject(value)
      ? (value["tools"] ?? (isObject(value["result"]) ? value["result"]["tools"] : undefined))
      : undefined;
  if (!Array.isArray(list)) throw new Fault("invalid-params", "this is not a list of tools: it has to be the result of tools/list");
  for (const [index, tool] of list.entries())
    if (!isObject(tool) || typeof tool["name"] !== "string") throw new Fault("invalid-params", `the tool at position ${index} has no name`);
  return list as ToolSchemas[];
}

/** The default package name, after the server. */
export function packageOf(server: string): string {
  return `tools.${snakeCase(server)}.v1`;
}
