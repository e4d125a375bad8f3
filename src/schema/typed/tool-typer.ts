import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { type Fault, jsonText, toFault } from "../../core/index.js";
import { packageOf } from "../catalogue.js";
import { type ConvertedSchema, type ConvertedTool, convertTool, type ToolSchemas } from "../convert/tool.js";
import { descriptorSet } from "../descriptors.js";
import { typedToolLimits } from "../limits.js";
import { type Lock, own } from "../lock/lock.js";
import { schemaCodec, type ValueCodec } from "../values/codec.js";

export interface ToolTyperOptions {
  /** The name of the server, which the packages of its messages are named after. */
  readonly server?: string | undefined;
  /** Field names and numbers to keep: the lock file of `anywire schema to-proto`. */
  readonly lock?: Lock | undefined;
  /** Tools that are kept; 4,096 unless given. The least recently used are dropped. */
  readonly tools?: number | undefined;
  /** Bytes of schemas and descriptors that are kept; 16 MiB unless given. */
  readonly bytes?: number | undefined;
}

/** A message of a tool, and the codec of its values. */
export interface TypedMessage {
  readonly typeName: string;
  readonly codec: ValueCodec;
}

/** A tool of a JSON-RPC server in the form for protobuf clients. */
export interface ListedTypedTool {
  readonly name: string;
  readonly input: TypedMessage;
  readonly output?: TypedMessage | undefined;
  /** A FileDescriptorSet with the tool's own file. Every reader knows the files that it imports. */
  readonly descriptors: Uint8Array;
  /** Why its schemas could not be converted. Its messages then accept any object, and the server has to check its arguments itself. */
  readonly fault?: Fault | undefined;
}

/** Converts tools as they are listed, each once. */
export interface ToolTyper {
  /** A tool that cannot be converted becomes one that accepts any object. Yields to other work between long conversions. */
  type(tool: ToolSchemas): Promise<ListedTypedTool>;
  /** The tool with a message of this full name, if it is still kept. */
  find(typeName: string): ListedTypedTool | undefined;
}

/** Milliseconds of converting after which other work gets a turn. */
const TURN_MS = 8;

/**
 * The conversion depends only on the tool's own data, so everyone who sees the same tool shares it, and replicas agree. Without a lock the
 * package name contains a hash of the tool, because field numbers follow the order of the properties: bytes for another version of the tool
 * are of an unknown type, and are never misread.
 */
export function toolTyper(options: ToolTyperOptions = {}): ToolTyper {
  const { tools: most = typedToolLimits.tools, bytes: mostBytes = typedToolLimits.bytes } = options;
  const kept = new Map<string, { readonly tool: ListedTypedTool; readonly weight: number }>();
  const byType = new Map<string, string>();
  let weight = 0;
  let since = performance.now();
  const forget = (key: string): void => {
    const gone = kept.get(key);
    if (gone === undefined) return;
    kept.delete(key);
    weight -= gone.weight;
    for (const message of [gone.tool.input, gone.tool.output])
      if (message !== undefined && byType.get(message.typeName) === key) byType.delete(message.typeName);
  };
  const keep = (key: string, tool: ListedTypedTool, size: number): void => {
    kept.set(key, { tool, weight: size });
    weight += size;
    for (const message of [tool.input, tool.output]) if (message !== undefined) byType.set(message.typeName, key);
    for (const oldest of kept.keys()) {
      if (kept.size <= most && weight <= mostBytes) break;
      forget(oldest);
    }
  };
  const use = (key: string): ListedTypedTool | undefined => {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    kept.delete(key);
    kept.set(key, found);
    return found.tool;
  };
  return {
    async type(tool) {
      const { name, description, inputSchema, outputSchema } = tool;
      const text = jsonText([name, description ?? null, inputSchema ?? null, outputSchema ?? null]);
      const key = createHash("sha256").update(text).digest("hex");
      const known = use(key);
      if (known !== undefined) return known;
      if (performance.now() - since > TURN_MS) {
        await turn();
        since = performance.now();
        // Someone else may have converted the same tool meanwhile.
        const meanwhile = use(key);
        if (meanwhile !== undefined) return meanwhile;
      }
      const made = typed(tool, key, options);
      keep(key, made, text.length + made.descriptors.byteLength);
      return made;
    },
    find(typeName) {
      const key = byType.get(typeName);
      return key === undefined ? undefined : use(key);
    },
  };
}

/** Hexadecimal digits of a hash in a package: 64 bits. */
const DIGITS = 16;

/** Whether a message comes from a conversion without a lock. */
export function isHashed(typeName: string): boolean {
  return /^tools\.[a-z0-9_]+\.h[0-9a-f]{16}\.\w+$/.test(typeName);
}

function typed(tool: ToolSchemas, hash: string, { server = "server", lock }: ToolTyperOptions): ListedTypedTool {
  const hashed = `${packageOf(server).replace(/\.v1$/, "")}.h${hash.slice(0, DIGITS)}`;
  const locked = own(lock?.tools, tool.name);
  try {
    return shown(convertTool(tool, locked === undefined ? { package: hashed } : { package: lock?.package ?? hashed, lock: locked }));
  } catch (error) {
    // If one tool cannot be converted, the client still gets the others.
    return { ...shown(convertTool({ name: tool.name }, { package: hashed })), fault: toFault(error) };
  }
}

function shown(tool: ConvertedTool): ListedTypedTool {
  // The messages of a converted file are its input, and its output if it has one.
  const [input, output] = tool.file.messageType.map(({ name }) => `${tool.file.package}.${name}`);
  return {
    name: tool.name,
    input: messageOf(tool.input, input ?? ""),
    ...(tool.output === undefined ? undefined : { output: messageOf(tool.output, output ?? "") }),
    descriptors: descriptorSet([tool]),
  };
}

function messageOf(schema: ConvertedSchema, typeName: string): TypedMessage {
  let codec: ValueCodec | undefined;
  return {
    typeName,
    get codec() {
      return (codec ??= schemaCodec(schema));
    },
  };
}
