import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type Command, defaultTimeouts, notifyObserver, type Observer } from "../core/index.js";
import { codeOf, within } from "../stream/index.js";
import { childEnvironment } from "./environment.js";
import { holdGroup, releaseGroup, signalGroup } from "./group.js";
import { startFault } from "./start-fault.js";
import { textLines } from "./text-lines.js";

export interface ChildOptions {
  /** Milliseconds between the steps of stop(). */
  readonly graceMs?: number;
  /**
   * Called with each line of the child's stderr: long lines in pieces of 64 Ki characters, and at most a mebibyte a second. Without it,
   * stderr goes to this process's stderr unchanged.
   */
  readonly onStderr?: (line: string) => void;
  /** Receives the start and the exit. */
  readonly observe?: Observer;
}

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StopOptions {
  /** Begins with SIGTERM, for a child that no longer responds. Also speeds up a stop() that is already running. */
  readonly now?: boolean;
}

/** A running child process, the leader of a process group of its own. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly stdin: Writable;
  /** Attach its reader in the tick in which startChild resolves: when the child exits, Node discards what nobody reads. */
  readonly stdout: Readable;
  /** Never rejects. */
  readonly exited: Promise<Exit>;
  /** Closes stdin, then sends TERM, then KILL to the whole group, `graceMs` apart. Resolves when the child is reaped. Idempotent. */
  stop(options?: StopOptions): Promise<void>;
}

/** Bytes of a child's stderr that are passed on in a second. The rest of that second is dropped. */
const stderrBytes = 1024 * 1024;
/** Milliseconds to pause after dropping that many bytes: a child that prints without end must not keep this process busy. */
const stderrRestMs = 10;

/** Milliseconds that processes outside the group may keep a dead child's stderr open. */
const stderrOpenMs = 500;

/** Starts a command without a shell. If it cannot be started, rejects with `unavailable` and one clear reason. */
export async function startChild(command: Command, options: ChildOptions = {}): Promise<Child> {
  const { graceMs = defaultTimeouts.graceMs, onStderr, observe } = options;
  const running = await spawned(command, onStderr !== undefined);
  const { stdin, stdout, stderr } = running;
  if (running.pid === undefined || stdin === null || stdout === null) throw await startFault(command, undefined);
  const pid = running.pid;
  const exited = new Promise<Exit>((resolve) => {
    running.once("exit", (code, signal) => resolve({ code, signal }));
  });
  if (observe !== undefined) {
    const child = { pid, command: command.command };
    notifyObserver(observe, "child", { kind: "start", ...child });
    void exited.then((exit) => notifyObserver(observe, "child", { kind: "exit", ...child, ...exit }));
  }
  if (stderr !== null && onStderr !== undefined) readLines(stderr, onStderr, exited);
  // For the time when nobody reads or writes these streams. Whoever does has its own error listener.
  stdin.on("error", ignore);
  stdout.on("error", ignore);

  let hurry: () => void = ignore;
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });
  // A group whose leader has ended was released and is not signalled, so no step has to check for that.
  const run = async (): Promise<void> => {
    stdin.end();
    await within(Promise.race([exited, hurried]), graceMs);
    signalGroup(pid, "SIGTERM");
    await within(exited, graceMs);
    signalGroup(pid, "SIGKILL");
    await exited;
    // A process outside the group may keep it open.
    stdout.destroy();
  };
  let stopping: Promise<void> | undefined;
  const stop = (how: StopOptions = {}): Promise<void> => {
    if (how.now === true) hurry();
    stopping ??= run();
    return stopping;
  };
  return { pid, stdin, stdout, exited, stop, [Symbol.asyncDispose]: () => stop() };
}

function spawned(command: Command, pipeStderr: boolean): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => void startFault(command, codeOf(error)).then(reject);
    try {
      const child = spawn(command.command, command.args ?? [], {
        shell: false,
        // A group of its own: signals reach its descendants, and a Ctrl-C in the terminal does not reach the child before us.
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["pipe", "pipe", pipeStderr ? "pipe" : "inherit"],
        env: childEnvironment(command),
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      });
      const { pid } = child;
      if (pid !== undefined) {
        holdGroup(pid);
        child.once("exit", () => releaseGroup(pid));
      }
      child.once("error", refuse);
      child.once("spawn", () => {
        child.off("error", refuse);
        // A signal could not be delivered. stop() only waits for the exit.
        child.on("error", ignore);
        resolve(child);
      });
    } catch (error) {
      refuse(error);
    }
  });
}

function readLines(stderr: Readable, onStderr: (line: string) => void, exited: Promise<Exit>): void {
  const lines = textLines(onStderr);
  let since = 0;
  let bytes = 0;
  let rested = stderrBytes;
  const told = (): void => {
    if (bytes > stderrBytes) onStderr(`(${bytes - stderrBytes} bytes more in that second are left out)`);
  };
  stderr.on("data", (chunk: Uint8Array) => {
    const now = performance.now();
    if (now - since >= 1000) {
      told();
      since = now;
      bytes = 0;
      rested = stderrBytes;
    }
    const room = stderrBytes - bytes;
    bytes += chunk.byteLength;
    if (room > 0) lines.push(chunk.byteLength <= room ? chunk : chunk.subarray(0, room));
    if (bytes - rested < stderrBytes) return;
    rested = bytes;
    stderr.pause();
    setTimeout(() => stderr.resume(), stderrRestMs);
  });
  stderr.on("error", ignore);
  const ended = new Promise<void>((resolve) => {
    stderr.once("close", () => {
      lines.end();
      told();
      resolve();
    });
  });
  void exited.then(() => within(ended, stderrOpenMs)).then(() => stderr.destroy());
}

function ignore(): void {}
