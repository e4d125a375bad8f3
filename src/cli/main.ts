import { parse } from "./args/parse.js";
import { help } from "./help/help.js";
import { load } from "./load.js";
import { clean } from "./out/clean.js";
import { exitCodes } from "./table/exit-codes.js";

/** Runs the command and gives its exit code. Neither a wire nor the client is loaded before a command needs it. */
export async function main(args: readonly string[]): Promise<number> {
  const parsed = parse(args);
  switch (parsed.tag) {
    case "misuse":
      say(process.stderr, `anywire: ${parsed.message}\n`);
      return exitCodes.misuse;
    case "help":
      say(process.stdout, help(parsed.command, Math.min(process.stdout.columns ?? 100, 120)));
      return exitCodes.ok;
    case "version":
      say(process.stdout, `${await version()}\n`);
      return exitCodes.ok;
    case "run":
      for (const stream of [process.stdout, process.stderr]) stream.on("error", gone);
      return (await load[parsed.command.name]()).run(parsed.input);
  }
}

/** Whoever does not want to read it need not. Streams that are not written to are not touched: making one takes its time. */
function say(stream: NodeJS.WriteStream, text: string): void {
  stream.on("error", gone).write(clean(text));
}

/** Commands that write much hear of a reader that has gone by themselves; for the last words of the others this is enough. */
function gone(): void {}

async function version(): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
