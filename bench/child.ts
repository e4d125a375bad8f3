import { fileURLToPath } from "node:url";
import type { Command } from "anywire";

/** A server of ours in a child process; `args` follow its file. */
export function child(file: "anywire" | "sdk" | "pipe", ...args: string[]): Command & { readonly args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(new URL(`./servers/${file}.js`, import.meta.url)), ...args] };
}
