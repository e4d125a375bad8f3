import type { CompletionRef } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { Nearest } from "../args/nearest.js";
import { cleanLine } from "../out/clean.js";
import { find } from "../session/find.js";
import { absent } from "../session/mistake.js";
import { type CommandSession, type WithClient, withClient } from "../session/session.js";
import { stringPairs } from "../values/pairs.js";

export function runComplete(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async (session) => {
    const { client, signal, out, tty } = session;
    const [what = "", name = "", ...rest] = input.positionals;
    const [first] = rest;
    const value = first === undefined || first.indexOf("=") > 0 ? "" : first;
    const known = stringPairs(rest.filter((word) => word.indexOf("=") > 0));
    const ref = await refOf(session, what);
    const context = Object.keys(known).length === 0 ? undefined : { arguments: known };
    const { completion } = await client.complete(ref, { name, value }, context, { signal });
    if (input.options.has("json")) await out.write(`${JSON.stringify(completion)}\n`);
    else for (const each of completion.values) await out.write(`${tty ? cleanLine(each) : each}\n`);
    return 0;
  });
}

async function refOf({ client, signal }: CommandSession, what: string): Promise<CompletionRef> {
  if (what.startsWith("prompt:")) {
    const name = what.slice("prompt:".length);
    await find(client.prompts({ signal }), (each) => each.name, name, "prompt");
    return { type: "ref/prompt", name };
  }
  const near = new Nearest(what);
  for await (const { uriTemplate } of client.resourceTemplates({ signal })) {
    if (uriTemplate === what) return { type: "ref/resource", uri: what };
    near.offer(uriTemplate);
  }
  // A server may complete a template that it does not list.
  if (near.found === undefined) return { type: "ref/resource", uri: what };
  throw absent(`the server has no resource template ${what}; did you mean ${near.found}?`);
}
