import { clean } from "./clean.js";

/** Writes a line for a person, of a command that has no screen. */
export function say(line: string, stream: NodeJS.WriteStream = process.stderr): void {
  stream.write(`${clean(line)}\n`);
}
