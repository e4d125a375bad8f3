import { nearest, suggestion } from "../args/nearest.js";
import { misuse } from "../session/mistake.js";
import { bridgeCommand } from "../table/bridge.js";
import { mcpProxy } from "./mcp-proxy.js";
import { mcpRemote } from "./mcp-remote.js";
import { supergateway } from "./supergateway.js";
import type { ForeignArgs, ForeignFlag, ForeignProgram } from "./types.js";

export const foreignPrograms: readonly ForeignProgram[] = [supergateway, mcpProxy, mcpRemote];

/** Our command line in place of another program's. */
export interface Translated {
  readonly args: readonly string[];
  /** Notes about flags that have no meaning here, or a different one. */
  readonly notes: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Translates the arguments after `bridge --as <name>`. Throws a Fault for a flag that neither that program nor the bridge has. */
export function translate(name: string | undefined, args: readonly string[]): Translated {
  const program = foreignPrograms.find((each) => each.name === name);
  if (program === undefined) {
    const names = foreignPrograms.map((each) => each.name);
    throw misuse(`--as takes one of ${names.join(", ")}${name === undefined ? "" : suggestion(nearest(name, names))}`);
  }
  const { given, own } = scan(program, args);
  const notes: string[] = [];
  const mapped: string[] = [];
  for (const { name: flag, ignored, refused, give } of program.flags) {
    if (!given.has(flag)) continue;
    if (refused !== undefined && given.text(flag) !== "false") throw misuse(`--${flag}: ${refused}`);
    if (ignored !== undefined) notes.push(`--${flag} has no effect: ${ignored}`);
    if (give !== undefined) mapped.push(...given.list(flag).flatMap(give));
  }
  const { args: composed, command, notes: more = [], env = {} } = program.compose(given);
  return {
    args: ["bridge", ...composed, ...mapped, ...own, ...(command === undefined ? [] : ["--", ...command])],
    notes: [...notes, ...more],
    env,
  };
}

/** Their flags by name, and ours unchanged. */
function scan(program: ForeignProgram, args: readonly string[]): { readonly given: ForeignArgs; readonly own: readonly string[] } {
  const dashes = args.indexOf("--");
  const all = dashes < 0 ? args : args.slice(0, dashes);
  let command = dashes < 0 ? undefined : args.slice(dashes + 1);
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const own: string[] = [];
  for (let at = 0; at < all.length; at++) {
    const word = all[at] ?? "";
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) {
      if (word.startsWith("-") && word !== "-") {
        own.push(word);
        continue;
      }
      words.push(word);
      if (!program.wordsAreCommand) continue;
      command ??= all.slice(at);
      break;
    }
    const flag = flagOf(program, name);
    const taken = flag === undefined ? takenByOurs(name, inline, all, at) : takenBy(flag, inline, all, at);
    if (taken === undefined) throw misuse(unknown(program, name));
    if (flag === undefined) own.push(word, ...taken.values.slice(inline === undefined ? 0 : 1));
    else
      values.set(flag.name, [
        ...(values.get(flag.name) ?? []),
        ...(name.startsWith("no-") && flag.name !== name ? ["false"] : taken.values),
      ]);
    at += taken.words;
  }
  for (const [flag, value] of variablesOf(program)) if (!values.has(flag)) values.set(flag, [value]);
  return {
    own,
    given: {
      has: (flag) => values.has(flag),
      text: (flag) => values.get(flag)?.at(-1),
      list: (flag) => values.get(flag) ?? [],
      words,
      command,
    },
  };
}

/** The flags that are given as variables. */
function variablesOf({ flags, variables }: ForeignProgram): [flag: string, value: string][] {
  if (variables === undefined) return [];
  return flags.flatMap(({ name }) => {
    const value = process.env[`${variables}_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`];
    return value === undefined || value === "" ? [] : [[name, value]];
  });
}

/** Finds a flag: also in kebab-case, and with `no-` before a switch. */
function flagOf({ flags }: ForeignProgram, name: string): ForeignFlag | undefined {
  const camel = name.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
  const found = flags.find((flag) => flag.name === name || flag.name === camel);
  if (found !== undefined || !name.startsWith("no-")) return found;
  const without = flags.find((flag) => flag.name === name.slice(3));
  return without?.takes === "switch" ? without : undefined;
}

interface Taken {
  readonly values: readonly string[];
  /** How many words after the flag belong to it. */
  readonly words: number;
}

function takenBy({ name, takes }: ForeignFlag, inline: string | undefined, all: readonly string[], at: number): Taken {
  if (inline !== undefined) return { values: [inline], words: 0 };
  const next = all[at + 1];
  if (takes === "switch") return next === "true" || next === "false" ? { values: [next], words: 1 } : { values: ["true"], words: 0 };
  if (takes === "value") {
    if (next === undefined || next.startsWith("--")) throw misuse(`--${name} needs a value`);
    return { values: [next], words: 1 };
  }
  let end = at + 1;
  while (end < all.length && all[end]?.startsWith("--") !== true) end++;
  const values = all.slice(at + 1, end);
  return { values: values.length === 0 ? [""] : values, words: values.length };
}

/** Options of the bridge itself may be among them. */
function takenByOurs(name: string, inline: string | undefined, all: readonly string[], at: number): Taken | undefined {
  const option = bridgeCommand.options.find((each) => each.name === name);
  if (option === undefined) return undefined;
  if (inline !== undefined || option.kind === "flag") return { values: inline === undefined ? [] : [inline], words: 0 };
  const next = all[at + 1];
  return next === undefined ? { values: [], words: 0 } : { values: [next], words: 1 };
}

function unknown({ name, flags, version }: ForeignProgram, flag: string): string {
  const near = nearest(
    flag,
    flags.map((each) => each.name),
  );
  return `${name} ${version} has no flag --${flag}${suggestion(near && `--${near}`)}`;
}
