import type { Input } from "../args/input.js";
import { nearest, suggestion } from "../args/nearest.js";
import { cleanLine } from "../out/clean.js";
import { contentText } from "../out/contents.js";
import { find } from "../session/find.js";
import { misuse } from "../session/mistake.js";
import { type CommandSession, type WithClient, withClient } from "../session/session.js";
import { stringPairs } from "../values/pairs.js";

export function runPrompt(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async (session) => {
    const { client, signal, out, style } = session;
    const [name = "", ...words] = input.positionals;
    const args = stringPairs(words);
    await check(session, name, args);
    const result = await client.getPrompt(name, args, { signal });
    if (input.options.has("json")) await out.write(`${JSON.stringify(result)}\n`);
    else
      for (const { role, content } of result.messages)
        await out.write(`${style.bold(cleanLine(`${role}:`))} ${contentText(content, style)}\n`);
    return 0;
  });
}

async function check({ client, signal }: CommandSession, name: string, args: Readonly<Record<string, string>>): Promise<void> {
  const prompt = await find(client.prompts({ signal }), (each) => each.name, name, "prompt");
  if (prompt?.arguments === undefined) return;
  const names = prompt.arguments.map((each) => each.name);
  const stray = Object.keys(args).find((key) => !names.includes(key));
  if (stray !== undefined)
    throw misuse(`the prompt has no argument ${stray}${suggestion(nearest(stray, names)) || `; it has ${names.join(", ") || "none"}`}`);
  const lacking = prompt.arguments.filter((each) => each.required === true && args[each.name] === undefined);
  if (lacking.length > 0) throw misuse(`missing ${lacking.map((each) => `${each.name}=<string>`).join(" ")}`);
}
