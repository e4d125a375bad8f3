import { parse } from "./args/parse.js";
import { help } from "./help/help.js";
import { load } from "./load.js";
import { clean } from "./out/clean.js";
import { fitted, widthOf } from "./out/wrap.js";
import { exitCodes } from "./table/exit-codes.js";

/** Runs the command and returns its exit code. No wire and no client is loaded before a command needs it. */
export async function main(args: readonly string[]): Promise<number> {
  const own = await translated(args);
  const parsed = typeof own === "string" ? ({ tag: "misuse", message: own } as const) : parse(own);
  switch (parsed.tag) {
    case "misuse":
      say(process.stderr, `${fitted(`anywire: ${parsed.message}`, process.stderr)}\n`);
      return exitCodes.misuse;
    case "help":
      say(process.stdout, help(parsed.command, Math.min(widthOf(process.stdout, 100), 120)));
      return exitCodes.ok;
    case "version":
      say(process.stdout, `${await version()}\n`);
      return exitCodes.ok;
    case "run":
      for (const stream of [process.stdout, process.stderr]) stream.on("error", gone);
      return (await load[parsed.command.name]())(parsed.input);
  }
}

/** The arguments, in which `bridge --as` and the flags of another program are replaced by ours; or what is wrong with them. */
async function translated(args: readonly string[]): Promise<readonly string[] | string> {
  const [dashes, bridge] = [args.indexOf("--"), args.indexOf("bridge")];
  const at = args.findIndex((word) => /^--as(=|$)/.test(word));
  if (bridge < 0 || at < bridge || (dashes >= 0 && at > dashes)) return args;
  return at === 1 ? standIn(args.slice(1)) : "--as comes right after bridge: anywire bridge --as <program> and its flags";
}

async function standIn([first = "", ...rest]: readonly string[]): Promise<readonly string[] | string> {
  const equals = first.indexOf("=");
  const [name, args] = equals < 0 ? [rest[0], rest.slice(1)] : [first.slice(equals + 1), rest];
  if (args.includes("--help")) return ["bridge", "--help"];
  const { translate } = await import("./as/translate.js");
  try {
    const translated = translate(name, args);
    Object.assign(process.env, translated.env);
    for (const note of translated.notes) say(process.stderr, `anywire: ${note}\n`);
    return translated.args;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** If nobody reads the output, that is ignored. Streams that are not written to are not touched, because opening one takes time. */
function say(stream: NodeJS.WriteStream, text: string): void {
  stream.on("error", gone).write(clean(text));
}

/** Commands that write much handle a reader that has gone themselves. For the last line of the others this is enough. */
function gone(): void {}

async function version(): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return String(JSON.parse(text).version);
}
