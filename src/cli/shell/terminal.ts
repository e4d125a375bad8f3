import { createInterface, type Interface } from "node:readline";
import { askTerminal, type Terminal } from "../ask/terminal.js";
import type { Screen } from "../out/screen.js";
import type { History } from "./history.js";

/** A person at a terminal who types lines and answers questions. */
export interface ShellTerminal extends Terminal {
  /** The next line to run; undefined when there are no more. */
  next(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Clears the line that is being typed, and prints a hint above a new one. */
  startOver(hint: string): void;
  /** What Ctrl-C and Tab do. */
  onInterrupt: () => void;
  complete: (line: string) => Promise<readonly string[]>;
}

/** The reader edits lines, so that it can complete them and offer a history. Ctrl-C is a key for it, not a signal. */
export function shellTerminal(screen: Screen, history: History | undefined): ShellTerminal {
  let reader: Interface | undefined;
  let asking = false;
  const open = (): Interface => {
    reader = createInterface({
      input: process.stdin,
      output: process.stderr,
      history: history?.lines ?? [],
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string, done: (error: null, found: [string[], string]) => void) =>
        void (asking ? Promise.resolve([]) : at.complete(line)).then(
          (found) => done(null, [[...found], lastWord(line)]),
          () => done(null, [[], line]),
        ),
    });
    reader.on("SIGINT", () => at.onInterrupt());
    // An answer is not a command, and may be a secret.
    reader.on("history", (lines) => void (asking && lines.shift()));
    return reader;
  };
  const inner = askTerminal(open, screen);
  const at: ShellTerminal = {
    screen,
    onInterrupt: () => {},
    complete: () => Promise.resolve([]),
    async ask(question, signal) {
      asking = true;
      try {
        return await inner.ask(question, signal);
      } finally {
        asking = false;
      }
    },
    async next(prompt, signal) {
      const line = await inner.ask(prompt, signal);
      if (line !== undefined) history?.add(line);
      return line;
    },
    startOver(hint) {
      reader?.write(null, { ctrl: true, name: "e" });
      reader?.write(null, { ctrl: true, name: "u" });
      screen.line(`\n${hint}`);
      reader?.prompt();
    },
    close: () => inner.close(),
  };
  return at;
}

/** The word at the end of a line. */
export function lastWord(line: string): string {
  return /\S*$/.exec(line)?.[0] ?? "";
}
