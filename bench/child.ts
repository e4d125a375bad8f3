import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Command } from "anywire";

type File = "bare-source" | "anywire" | "sdk" | "sdk-http" | "pipe" | "bare-http" | "raw-stdio" | "typed";

/** A server of ours in a child process; `args` follow its file. */
export function child(file: File, ...args: string[]): Command & { readonly args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(new URL(`./servers/${file}.js`, import.meta.url)), ...args] };
}

/** A server that listens in a child process. */
export interface Listening extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
}

/** Starts one that prints its address; disposing it ends it. */
export async function listening(file: File, ...args: string[]): Promise<Listening> {
  const { command, args: all } = child(file, ...args);
  const running = spawn(command, ["--expose-gc", ...all], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(running, "exit");
  const [address] = (await Promise.race([
    once(createInterface({ input: running.stdout }), "line"),
    exited.then(() => Promise.reject(new Error(`the server ${file} ended`))),
  ])) as [string];
  return {
    address,
    pid: running.pid as number,
    async [Symbol.asyncDispose]() {
      running.kill();
      await exited;
    },
  };
}
