import type { CommandSpec, PositionalSpec } from "../table/types.js";
import type { Input, Target } from "./input.js";
import { nearest, suggestion } from "./nearest.js";

type Sorted = Pick<Input, "positionals" | "target">;

const address = /^[a-z][a-z0-9+.-]*:/i;
/** A host and port without a scheme, as often typed. `localhost:8000` would otherwise look like an address. */
const bareHost = /^(?:localhost|\[[0-9a-f:]+\]|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d+(?:\/|$)/i;
/** What may be a URL without its scheme, and may be a file. */
const hostAndPath = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+\//i;

export interface ServerGiven {
  /** The words after `--`. */
  readonly started: readonly string[] | undefined;
  /** Whether options say that a file defines the server. */
  readonly configured: boolean;
}

/** Sorts the words into the command's arguments and the server, or returns what is wrong. */
export function positionalsOf(command: CommandSpec, words: readonly string[], { started, configured }: ServerGiven): Sorted | string {
  if (!command.target) {
    if (started !== undefined) return `anywire ${command.name} starts no command: leave out --`;
    return checked(command, words, undefined);
  }
  if (configured && started !== undefined) return "--config and -- each name a server; give one of them";
  if (configured) return checked(command, words, undefined);
  if (started !== undefined) {
    const [name, ...args] = started;
    if (name === undefined) return "after -- comes the command that starts the server";
    // A scheme right before -- names the protocol of the command.
    const [, speaks] = /^((?:grpc|http|proto)\+stdio):$/.exec(words.at(-1) ?? "") ?? [];
    if (speaks === "grpc+stdio" || speaks === "http+stdio" || speaks === "proto+stdio")
      return checked(command, words.slice(0, -1), { command: name, args, speaks });
    return checked(command, words, { command: name, args });
  }
  if (command.target === "optional" && words.length === 0) return checked(command, words, undefined);
  const last = words.at(-1);
  if (last !== undefined && bareHost.test(last)) return `${last} lacks its scheme: http://${last}, grpc://${last} or another of a wire`;
  const least = command.positionals.filter(({ optional }) => optional !== true).length;
  if (last !== undefined && words.length > least && address.test(last)) return checked(command, words.slice(0, -1), last);
  const lacking = command.positionals[words.length];
  if (lacking !== undefined && lacking.optional !== true) return missing(command, lacking);
  if (command.target === "or-file" && words.length > least) return checked(command, words, undefined);
  if (firstStray(command, words) >= 0) {
    // An optional word may be the start of the command to run.
    const begins = words.findIndex((word, at) => at >= least && !isPair(word));
    return `to start a command put -- before it: ${line(command, words.slice(0, begins))} -- ${words.slice(begins).join(" ")}${perhapsUrl(last)}`;
  }
  return `what to talk to is missing: end with a URL, or with -- and the command that starts the server (${line(command, words)} -- <command...>)${perhapsUrl(last)}`;
}

function perhapsUrl(word: string | undefined): string {
  return word !== undefined && hostAndPath.test(word) ? `; if ${word} is a URL, write https://${word}` : "";
}

function line(command: CommandSpec, words: readonly string[]): string {
  return ["anywire", command.name, ...words].join(" ");
}

/** The first word that the command has no place for; -1 if there is none. */
function firstStray(command: CommandSpec, words: readonly string[]): number {
  return words.findIndex((word, at) => {
    const spec = specAt(command, words, at);
    return spec === undefined || (spec.pair === true && !isPair(word));
  });
}

/** An optional word before pairs is left out if there is a pair in its place. */
function specAt(command: CommandSpec, words: readonly string[], at: number): PositionalSpec | undefined {
  const { positionals } = command;
  const spec = positionals[at] ?? positionals.at(-1);
  if (spec?.optional === true && spec.pair !== true && isPair(words[at] ?? "")) return positionals.at(-1);
  return positionals[at] !== undefined || spec?.many === true ? spec : undefined;
}

function isPair(word: string): boolean {
  return word.indexOf("=") > 0;
}

function checked(command: CommandSpec, words: readonly string[], target: Target | undefined): Sorted | string {
  const lacking = command.positionals[words.length];
  if (lacking !== undefined && lacking.optional !== true) return missing(command, lacking);
  const stray = firstStray(command, words);
  const word = words[stray];
  if (word !== undefined) {
    const wantsPairs = command.positionals.at(-1)?.pair === true;
    if (!wantsPairs) return `anywire ${command.name} has no use for ${JSON.stringify(word)}`;
    const isJson = word.startsWith("{") && command.options.some(({ name }) => name === "args");
    return `${JSON.stringify(word)} is not key=value${isJson ? "; JSON goes into --args" : ""}`;
  }
  for (const [at, given] of words.entries()) {
    const { choices } = command.positionals[at] ?? {};
    if (choices !== undefined && !choices.includes(given))
      return `${JSON.stringify(given)} is none of ${choices.join(", ")}${suggestion(nearest(given, choices))}`;
  }
  return { positionals: words, target };
}

function missing(command: CommandSpec, { name, choices }: PositionalSpec): string {
  const what = choices === undefined ? (name.includes("<") ? name : `<${name}>`) : choices.join(", ");
  return `${what} is missing; for example: ${command.examples[0]}`;
}
