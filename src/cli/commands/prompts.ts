import type { Prompt } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { type Entry, writeList } from "../out/list.js";
import { type WithClient, withClient } from "../session/session.js";

export function runPrompts(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, (session) =>
    writeList(session, session.client.prompts({ signal: session.signal }), entryOf, "the server has no prompts"),
  );
}

function entryOf({ name, title, description, arguments: args = [] }: Prompt): Entry {
  const details = args.map((each) => {
    const shape = each.required === true ? `${each.name}=<string>` : `[${each.name}=<string>]`;
    return each.description === undefined ? shape : `${shape}  ${each.description}`;
  });
  return { name, about: description ?? title ?? "", details };
}
