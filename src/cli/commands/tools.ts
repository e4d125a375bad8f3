import type { JsonObject, Tool } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import type { Input } from "../args/input.js";
import { type Entry, writeList } from "../out/list.js";
import { withClient } from "../session/session.js";
import { describe } from "../values/coerce.js";

export function runTools(input: Input): Promise<number> {
  return withClient(input, (session) =>
    writeList(session, session.client.tools({ signal: session.signal }), entryOf, "the server has no tools"),
  );
}

function entryOf({ name, title, description, inputSchema }: Tool): Entry {
  return { name, about: description ?? title ?? "", details: [signature(isObject(inputSchema) ? inputSchema : {})] };
}

/** The arguments in one line: `text=<string> [times=<integer>]`. */
function signature(schema: JsonObject): string {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties)
    .map(([name, property]) => {
      const argument = `${name}=<${describe(property, schema)}>`;
      return required.includes(name) ? argument : `[${argument}]`;
    })
    .join(" ");
}
