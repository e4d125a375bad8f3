import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

export const root: string = resolve(import.meta.dirname, "../..");
export const anywire: string = join(root, "bin/anywire.js");
export const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);

/** The end of a command line: the server it is about. */
export const demo: readonly string[] = ["--", process.execPath, anywire, "demo"];
export const everything: readonly string[] = [
  "--",
  process.execPath,
  join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
];
export const script = (source: string): readonly string[] => ["--", process.execPath, "-e", source];

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Outcome>;
  /** Resolves when both streams together have shown a text. */
  shows(text: string | RegExp): Promise<void>;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Before the script's name. */
  readonly node?: readonly string[];
}

/** Starts a command with pipes; it is ended with the test if it has not by then. */
export function start(command: string, args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...options.env } });
  const seen = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      seen[name] += text;
      for (const check of waiting) check();
    });
  const ended = new Promise<Outcome>((done) => child.once("close", (code) => done({ code, ...seen })));
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    child,
    ended,
    shows: (text) =>
      new Promise((resolveShown, reject) => {
        const check = (): void => {
          const all = seen.stdout + seen.stderr;
          if (typeof text === "string" ? !all.includes(text) : !text.test(all)) return;
          waiting.delete(check);
          resolveShown();
        };
        waiting.add(check);
        void ended.then(() => reject(new Error(`ended without ${text}: ${seen.stdout}${seen.stderr}`)));
        check();
      }),
  };
}

/** Runs the real command to its end. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const running = start(process.execPath, [...(options.node ?? []), anywire, ...args], options);
  running.child.stdin.end(options.stdin ?? "");
  return running.ended;
}

/** Whether there is a `script` that runs a command on a pseudo-terminal and passes its exit code on. */
export const hasTerminal: boolean = (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "").includes("util-linux");

/** Starts the real command on a pseudo-terminal. */
export function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const line = [process.execPath, anywire, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return start("script", ["-qfec", line, "/dev/null"], { env: { TERM: "xterm", ...env } });
}

/** A directory that goes with the test. */
export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), "anywire-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The files of the package that a run loaded. */
export async function loaded(args: readonly string[], options: RunOptions = {}): Promise<string[]> {
  const directory = scratch();
  await run(args, { ...options, env: { ...options.env, NODE_V8_COVERAGE: directory } });
  const urls = readdirSync(directory).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(directory, file), "utf8")) as Coverage;
    return result.map(({ url }) => url);
  });
  return urls.filter((url) => url.startsWith(`file://${root}/`)).map((url) => url.slice(`file://${root}/`.length));
}

/** Waits until something holds; the test's own timeout is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 10));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
export const jsonLines = (text: string): unknown[] => lines(text).map((line) => JSON.parse(line) as unknown);
