import {
  type Context,
  Fault,
  guard,
  isObject,
  type JsonObject,
  type Layer,
  once,
  type Replies,
  type Reply,
  type Request,
  resultOf,
  type Service,
} from "../../core/index.js";
import { described, firstSentence, indexLine, type ShownTool } from "../tokens/text.js";
import { search } from "./search.js";

export interface ProgressiveOptions {
  /** The name of the search tool; `search_tools` unless given. */
  readonly searchName?: string;
  /** The name of the tool that describes tools; `describe_tools` unless given. */
  readonly describeName?: string;
  /** The name of a third tool, with which a model calls any other, for clients that only let it call listed tools; none unless given. */
  readonly callName?: string;
  /** Characters of the index in the list; 40,000 unless given, about 10,000 tokens. The rest is found by searching. */
  readonly indexCharacters?: number;
}

const INDEX_CHARACTERS = 40_000;
/** The most tools that one call describes, and that one search finds. */
const [DESCRIBED, FOUND] = [20, 20];

/**
 * Shows a model an index of the tools and two tools to learn more, instead of all schemas. Every tool can still be called. Nothing is kept
 * between calls: each asks the service for its list.
 */
export function progressive(options: ProgressiveOptions = {}): Layer {
  const { searchName = "search_tools", describeName = "describe_tools", callName } = options;
  return (inner) => ({
    notify: (notification, context) => inner.notify(notification, context),
    call(request, context) {
      if (request.method === "tools/list") return listed(inner, request, context, options);
      if (request.method !== "tools/call") return inner.call(request, context);
      const { name, arguments: given } = request.params;
      const args = isObject(given) ? given : {};
      if (name === searchName) return once(context, (within) => searched(inner, args, within));
      if (name === describeName) return once(context, (within) => describedTools(inner, args, within));
      if (name === callName && callName !== undefined)
        return inner.call(
          {
            ...request,
            params: { ...request.params, name: args["name"], arguments: isObject(args["arguments"]) ? args["arguments"] : {} },
          },
          context,
        );
      return inner.call(request, context);
    },
  });
}

/** The discovery tools, which stand for all others. `lines` are those of the index, for `count` tools in total. */
export function discoveryTools(lines: Iterable<string>, count: number, options: ProgressiveOptions = {}): JsonObject[] {
  const { searchName = "search_tools", describeName = "describe_tools", callName, indexCharacters = INDEX_CHARACTERS } = options;
  let index = "";
  let shown = 0;
  for (const line of lines) {
    if (index.length + line.length + 1 > indexCharacters) break;
    index += `\n${line}`;
    shown++;
  }
  const rest = count > shown ? `\n… and ${count - shown} more: find them with ${searchName}.` : "";
  const how = callName === undefined ? "call it by its name" : `call it with ${callName}`;
  return [
    {
      name: describeName,
      description: `Gives the descriptions and input schemas of tools. Describe a tool before you ${how}. These tools exist:${index}${rest}`,
      inputSchema: {
        type: "object",
        properties: { names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: DESCRIBED } },
        required: ["names"],
      },
      annotations: { readOnlyHint: true },
    },
    {
      name: searchName,
      description: "Finds tools by what they are for.",
      inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
      annotations: { readOnlyHint: true },
    },
    ...(callName === undefined
      ? []
      : [
          {
            name: callName,
            description: "Calls a tool by its name.",
            inputSchema: { type: "object", properties: { name: { type: "string" }, arguments: { type: "object" } }, required: ["name"] },
          },
        ]),
  ];
}

function listed(inner: Service, request: Request, context: Context, options: ProgressiveOptions): Replies {
  const own = discoveryTools([], 0, options).map(({ name }) => name);
  const { indexCharacters = INDEX_CHARACTERS } = options;
  return guard(async function* (within): AsyncGenerator<Reply, JsonObject, undefined> {
    if (request.params["cursor"] !== undefined)
      throw new Fault("invalid-params", "there is no page with this cursor: the index is one page");
    const lines: string[] = [];
    let count = 0;
    let characters = 0;
    const result = await tools(inner, request.params, within, (tool) => {
      if (own.includes(tool.name))
        throw new Fault("internal", `the server has a tool ${tool.name} too; give the one for discovery another name`);
      count++;
      const line = indexLine(tool);
      characters += line.length + 1;
      if (characters <= indexCharacters) lines.push(line);
    });
    for (const value of discoveryTools(lines, count, options)) yield { kind: "item", value };
    return result;
  }, context);
}

async function searched(inner: Service, args: JsonObject, context: Context): Promise<JsonObject> {
  const { query } = args;
  if (typeof query !== "string" || query.trim() === "") return failure("query has to be a text");
  const found = search(query, FOUND);
  await tools(inner, {}, context, (tool) => found.offer(tool));
  const lines = found.best().map(({ name, description }) => `${name}: ${firstSentence(description, 300)}`);
  return text(lines.length === 0 ? `No tool fits ${JSON.stringify(query.slice(0, 200))}.` : lines.join("\n"));
}

async function describedTools(inner: Service, args: JsonObject, context: Context): Promise<JsonObject> {
  const names = typeof args["names"] === "string" ? [args["names"]] : args["names"];
  if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string"))
    return failure("names has to be a list of names of tools");
  if (names.length > DESCRIBED) return failure(`at most ${DESCRIBED} tools are described at once`);
  const wanted = new Set<string>(names);
  const found = new Map<string, JsonObject>();
  await tools(inner, {}, context, (tool) => {
    if (wanted.has(tool.name)) found.set(tool.name, described(tool));
  });
  const missing = [...wanted].filter((name) => !found.has(name));
  if (found.size === 0) return failure(`there is no tool ${missing.join(", ")}`);
  const texts = [...wanted].flatMap((name) => (found.has(name) ? [JSON.stringify(found.get(name))] : []));
  if (missing.length > 0) texts.push(`There is no tool ${missing.join(", ")}.`);
  return { content: texts.map((each) => ({ type: "text", text: each })) };
}

/** Reads the whole tool list of a service, and calls `each` for every tool. Returns its result. */
function tools(inner: Service, params: JsonObject, context: Context, each: (tool: ShownTool) => void): Promise<JsonObject> {
  return resultOf(inner.call({ method: "tools/list", params }, context), (reply) => {
    if (reply.kind === "item" && typeof reply.value["name"] === "string") each(reply.value as unknown as ShownTool);
  });
}

function text(value: string): JsonObject {
  return { content: [{ type: "text", text: value }] };
}

function failure(why: string): JsonObject {
  return { ...text(why), isError: true };
}
