import type { JsonObject, Tool } from "../../api/index.js";
import { isObject, jsonText } from "../../core/index.js";
import type { Input } from "../args/input.js";
import { clean, cleanLine } from "../out/clean.js";
import { type Entry, writeList } from "../out/list.js";
import { wrapText } from "../out/wrap.js";
import { find } from "../session/find.js";
import { type CommandSession, type WithClient, withClient } from "../session/session.js";
import { exitCodes } from "../table/exit-codes.js";
import { requiredNames } from "../values/arguments.js";
import { describe } from "../values/coerce.js";

export function runTools(input: Input, using: WithClient = withClient): Promise<number> {
  const [name] = input.positionals;
  return using(input, (session) => {
    const tools = session.client.tools({ signal: session.signal, exactNumbers: true });
    return name === undefined ? writeList(session, tools, entryOf, "the server has no tools") : writeTool(session, tools, name);
  });
}

/** Prints one tool completely, with its schemas and annotations. */
async function writeTool({ out, style, input, width }: CommandSession, tools: AsyncIterable<Tool>, name: string): Promise<number> {
  const tool = await find(tools, (each) => each.name, name, "tool");
  if (tool === undefined) return exitCodes.failed;
  if (input.options.has("json")) {
    await out.write(`${jsonText(tool)}\n`);
    return exitCodes.ok;
  }
  const { description, title, inputSchema, ...rest } = tool;
  const about = [style.bold(cleanLine(tool.name)), cleanLine(title ?? ""), wrapText(clean(description ?? ""), width)].filter(
    (line) => line !== "",
  );
  const others = Object.entries({ inputSchema, ...rest }).filter(([member]) => member !== "name");
  const parts = [
    about.join("\n"),
    wrapText(`anywire call ${cleanLine(tool.name)} ${cleanLine(signature(isObject(inputSchema) ? inputSchema : {}))}`.trim(), width, {
      indent: "    ",
      whole: true,
    }),
  ];
  for (const [member, value] of others) parts.push(`${style.dim(cleanLine(member))}\n${clean(jsonText(value, undefined, 2))}`);
  await out.write(`${parts.join("\n\n")}\n`);
  return exitCodes.ok;
}

function entryOf({ name, title, description, inputSchema }: Tool): Entry {
  return { name, about: description ?? title ?? "", details: [signature(isObject(inputSchema) ? inputSchema : {})] };
}

/** The arguments on one line: `text=<string> [times=<integer>]`. */
function signature(schema: JsonObject): string {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = requiredNames(schema);
  return Object.entries(properties)
    .map(([name, property]) => {
      const argument = `${name}=<${describe(property, schema)}>`;
      return required.includes(name) ? argument : `[${argument}]`;
    })
    .join(" ");
}
