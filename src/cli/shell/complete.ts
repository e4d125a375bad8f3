import type { CompletionRef, JsonObject, McpClient } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import type { CommandName, CommandSpec } from "../table/types.js";
import { valueTexts } from "../values/coerce.js";
import { lastWord } from "./terminal.js";
import { lineWords, typedWord } from "./words.js";

/** Elements of a list that are searched, and how long a Tab may take. */
const LOOKED_AT = 1_000;
const WAIT_MS = 2_000;

/** The word that is being typed, and the words before it. */
interface Typing {
  readonly client: McpClient;
  readonly signal: AbortSignal;
  readonly words: readonly string[];
  readonly word: string;
}

type Completer = (typing: Typing) => Promise<string[]> | string[];

/** The completions of the last word of a line: commands and their options, then names from the server. */
export async function completions(line: string, client: McpClient, commands: readonly CommandSpec[]): Promise<string[]> {
  const word = lastWord(line);
  const words = lineWords(line.slice(0, line.length - word.length)) ?? [];
  const [first] = words;
  const names = [...commands.map(({ name }) => name), "help", "exit"];
  const command = commands.find(({ name }) => name === first);
  const typing: Typing = { client, signal: AbortSignal.timeout(WAIT_MS), words: words.slice(1), word };
  const found = first === undefined || first === "help" ? names : command === undefined ? [] : await within(command, typing);
  const fitting = found.filter((each) => each.startsWith(word));
  // A complete word gets a space after it. A key waits for its value, and a resource directory for the rest.
  return fitting.map((each) => (/[=/]$/.test(each) ? typedWord(each) : `${typedWord(each)} `));
}

function within(command: CommandSpec, typing: Typing): Promise<string[]> | string[] {
  const before = typing.words.at(-1) ?? "";
  const valued = command.options.find(({ name, kind }) => kind !== "flag" && before === `--${name}`);
  if (valued !== undefined) return [...(valued.choices ?? [])];
  if (typing.word.startsWith("-")) return [...command.options, { name: "help" }].map(({ name }) => `--${name}`);
  const words = typing.words.filter((each) => !each.startsWith("-"));
  return byCommand[command.name]?.({ ...typing, words }) ?? [];
}

const byCommand: { readonly [name in CommandName]?: Completer } = {
  tools: (typing) => (typing.words.length === 0 ? toolNames(typing) : []),
  call: (typing) => (typing.words.length === 0 ? toolNames(typing) : toolArguments(typing)),
  prompt: (typing) => (typing.words.length === 0 ? promptNames(typing) : promptArguments(typing)),
  read: (typing) => (typing.words.length === 0 ? resources(typing) : []),
  watch: resources,
  complete: async (typing) => {
    if (typing.words.length > 0) return [];
    const templates = await some(typing.client.resourceTemplates(typing), (each) => each.uriTemplate);
    return [...(await promptNames(typing)).map((name) => `prompt:${name}`), ...templates];
  },
};

const toolNames: Completer = ({ client, signal }) => some(client.tools({ signal, exactNumbers: true }), ({ name }) => name);
const promptNames: Completer = ({ client, signal }) => some(client.prompts({ signal }), ({ name }) => name);

async function toolArguments({ client, signal, words: [tool, ...given], word }: Typing): Promise<string[]> {
  const [schema = {}] = await some(client.tools({ signal, exactNumbers: true }), ({ name, inputSchema }) =>
    name === tool ? inputSchema : undefined,
  );
  const properties: JsonObject = isObject(schema["properties"]) ? schema["properties"] : {};
  const [key, value] = pair(word);
  if (value !== undefined) return valueTexts(properties[key], schema).map((text) => `${key}=${text}`);
  return unused(Object.keys(properties), given);
}

async function promptArguments({ client, signal, words: [prompt = "", ...given], word }: Typing): Promise<string[]> {
  const [key, value] = pair(word);
  if (value === undefined) {
    const [names = []] = await some(client.prompts({ signal }), (each) => (each.name === prompt ? (each.arguments ?? []) : undefined));
    return unused(
      names.map(({ name }) => name),
      given,
    );
  }
  const known = Object.fromEntries(given.map((each) => pair(each)).map(([name, text]) => [name, text ?? ""]));
  const values = await asked({ client, signal }, { type: "ref/prompt", name: prompt }, { name: key, value }, known);
  return values.map((text) => `${key}=${text}`);
}

/** Resources by URI, templates up to their first variable, and the server's completions of that variable. */
async function resources({ client, signal, word }: Typing): Promise<string[]> {
  const listed = await some(client.resources({ signal }), ({ uri }) => uri);
  const templates = await some(client.resourceTemplates({ signal }), ({ uriTemplate }) => uriTemplate);
  const made = templates.map(async (template) => {
    const [, head = "", name, tail = ""] = /^([^{]*)\{(\w+)\}([^{]*)/.exec(template) ?? [];
    if (name === undefined || !word.startsWith(head)) return [head];
    const values = await asked({ client, signal }, { type: "ref/resource", uri: template }, { name, value: word.slice(head.length) });
    return values.length === 0 ? [head] : values.map((value) => `${head}${value}${tail}`);
  });
  return [...new Set([...listed, ...(await Promise.all(made)).flat()])].filter((uri) => uri !== "");
}

/** The server's own completions, if it offers them. */
async function asked(
  { client, signal }: Pick<Typing, "client" | "signal">,
  ref: CompletionRef,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  try {
    return (await client.complete(ref, argument, { arguments: known }, { signal })).completion.values;
  } catch {
    return [];
  }
}

/** What arrives of a list in time: a server may have no such list, or an endless one. */
async function some<T, R>(items: AsyncIterable<T>, of: (item: T) => R | undefined): Promise<R[]> {
  const found: R[] = [];
  let seen = 0;
  try {
    for await (const item of items) {
      const value = of(item);
      if (value !== undefined) found.push(value);
      if (++seen === LOOKED_AT) break;
    }
  } catch {}
  return found;
}

function pair(word: string): [key: string, value: string | undefined] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Keys that have no value yet. */
function unused(names: readonly string[], given: readonly string[]): string[] {
  return names.filter((name) => !given.some((each) => each.startsWith(`${name}=`))).map((name) => `${name}=`);
}
