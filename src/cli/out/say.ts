import { clean } from "./clean.js";

/** Prints a line for a person, for commands without a screen. */
export function say(line: string, stream: NodeJS.WriteStream = process.stderr): void {
  stream.write(`${clean(line)}\n`);
}
