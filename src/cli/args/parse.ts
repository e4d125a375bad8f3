import { parseArgs } from "node:util";
import { commands } from "../table/commands.js";
import { everywhere } from "../table/options.js";
import type { CommandSpec, OptionSpec } from "../table/types.js";
import { type Input, Options } from "./input.js";
import { nearest, suggestion } from "./nearest.js";
import { optionValue } from "./option-value.js";
import { positionalsOf } from "./positionals.js";

export type ParsedLine =
  | { readonly tag: "run"; readonly command: CommandSpec; readonly input: Input }
  | { readonly tag: "help"; readonly command: CommandSpec | undefined }
  | { readonly tag: "version" }
  | { readonly tag: "misuse"; readonly message: string };

interface Given {
  readonly spec: OptionSpec | undefined;
  /** The option as it was typed. */
  readonly raw: string;
  readonly value: string | undefined;
}

/** Parses a command line by a table. What comes after `--` is a command to start, and is not parsed. */
export function parse(args: readonly string[], table: readonly CommandSpec[] = commands): ParsedLine {
  const dashes = args.indexOf("--");
  const own = dashes < 0 ? args : args.slice(0, dashes);
  const { given, words } = scan(joinOptional(own));
  const has = (name: string): boolean => given.some(({ spec }) => spec?.name === name);
  const [first, ...rest] = words;
  if (first === "help") return help(rest[0], table);
  const command = table.find(({ name }) => name === first);
  if (command === undefined) {
    if (has("version")) return { tag: "version" };
    if (first !== undefined) return misuse(unknownCommand(first, table));
    if (has("help") || args.length === 0) return { tag: "help", command: undefined };
    return misuse("name a command; anywire --help lists them");
  }
  if (has("help")) return { tag: "help", command };
  if (has("version")) return { tag: "version" };
  const options = optionsOf(command, given);
  if (typeof options === "string") return misuse(options);
  const sorted = positionalsOf(command, rest, {
    started: dashes < 0 ? undefined : args.slice(dashes + 1),
    configured: options.has("config") || options.has("server"),
  });
  if (typeof sorted === "string") return misuse(sorted);
  return { tag: "run", command, input: { ...sorted, options } };
}

function misuse(message: string): ParsedLine {
  return { tag: "misuse", message };
}

function help(name: string | undefined, table: readonly CommandSpec[]): ParsedLine {
  const command = table.find((each) => each.name === name);
  return name === undefined || command !== undefined ? { tag: "help", command } : misuse(unknownCommand(name, table));
}

function unknownCommand(word: string, table: readonly CommandSpec[]): string {
  const near = nearest(
    word,
    table.map(({ name }) => name),
  );
  return `unknown command ${JSON.stringify(word)}${suggestion(near) || `; ${table === commands ? "anywire --help" : "help"} lists the commands`}`;
}

/** Every option of every command. A name has the same kind everywhere, so a command line can be read before its command is known. */
const known: ReadonlyMap<string, OptionSpec> = new Map(
  [...everywhere, ...commands.flatMap(({ options }) => options)].map((option) => [option.name, option]),
);

/** `--many-tools 5` as `--many-tools=5`: an option with an optional value takes the next word only if it is a number. */
function joinOptional(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of args) {
    const before = joined.at(-1);
    if (/^\d+$/.test(word) && before?.startsWith("--") && known.get(before.slice(2))?.kind === "optional")
      joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}

function scan(args: readonly string[]): { given: Given[]; words: string[] } {
  const options: Record<string, { type: "boolean" | "string"; short?: string }> = {};
  for (const { name, kind, short } of known.values()) {
    const type = kind === "flag" || kind === "optional" ? "boolean" : "string";
    options[name] = short === undefined ? { type } : { type, short };
  }
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given: Given[] = [];
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    else if (token.kind === "option") {
      // Another option in place of a value means that the value was forgotten. Written with =, it is a value.
      const forgotten = token.inlineValue === false && /^--?[a-z]/i.test(token.value);
      given.push({ spec: known.get(token.name), raw: token.rawName, value: forgotten ? undefined : token.value });
    }
  }
  return { given, words };
}

/** A hint for an unknown option that is similar to no other. */
function hint(command: CommandSpec, raw: string): string {
  if (/^-[yp]$/.test(raw) && command.target !== undefined && command.target !== false)
    return `; an option of the command that starts the server goes after --: anywire ${command.name} -- npx ${raw} …`;
  if (command.positionals.at(-1)?.pair === true && raw.startsWith("--")) return `; arguments are written ${raw.slice(2)}=…`;
  return `; see anywire ${command.name} --help`;
}

/** The values by option, or what is wrong with them. */
function optionsOf(command: CommandSpec, given: readonly Given[]): Options | string {
  const own = [...command.options, ...everywhere];
  const values = new Map<string, (string | number)[]>();
  for (const { spec, raw, value } of given) {
    const option = own.find(({ name }) => name === spec?.name);
    if (option === undefined) {
      const near = nearest(
        raw.replace(/^-+/, ""),
        own.map(({ name }) => name),
      );
      const why = spec === undefined ? `unknown option ${raw}` : `${command.name} has no option ${raw}`;
      return `${why}${suggestion(near && `--${near}`) || hint(command, raw)}`;
    }
    const bare = option.kind === "flag" || option.kind === "optional";
    if (value === undefined && !bare) return `--${option.name} needs a value: --${option.name} <${option.value}>`;
    if (value !== undefined && option.kind === "flag") return `--${option.name} takes no value`;
    const read = value === undefined ? { value: "" } : optionValue(option, value);
    if ("problem" in read) return read.problem;
    const earlier = values.get(option.name);
    if (earlier !== undefined && option.many !== true && option.kind !== "flag") return `--${option.name} is given twice`;
    values.set(option.name, [...(earlier ?? []), read.value]);
  }
  return new Options(values);
}
