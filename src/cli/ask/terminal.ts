import { createInterface, type Interface } from "node:readline";
import type { Readable } from "node:stream";
import { Fault } from "../../api/index.js";
import type { Screen } from "../out/screen.js";

/** Where a person is asked. */
export interface Terminal {
  readonly screen: Screen;
  /** The line that was typed; undefined when there is no more input. Rejects when `signal` aborts. One question at a time. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/**
 * Asks on `screen`, reads lines of `input`. The terminal stays in its usual mode: it edits the line itself, and Ctrl-C is a signal like
 * at any other time.
 */
export function askTerminal(input: Readable, screen: Screen): Terminal {
  let lines: Interface | undefined;
  let ended = false;
  const typed: string[] = [];
  let wake: (() => void) | undefined;

  const open = (): Interface => {
    const reader = createInterface({ input, terminal: false });
    reader.on("line", (line) => {
      typed.push(line);
      wake?.();
    });
    reader.on("close", () => {
      ended = true;
      wake?.();
    });
    return reader;
  };

  return {
    screen,
    async ask(question, signal) {
      lines ??= open();
      screen.prompt(question);
      if (!ended) lines.resume();
      const withdrawn = (): void => wake?.();
      signal.addEventListener("abort", withdrawn);
      while (typed.length === 0 && !ended && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = undefined;
      signal.removeEventListener("abort", withdrawn);
      if (!ended) lines.pause();
      if (signal.aborted) {
        screen.line("");
        throw new Fault("cancelled", "the question was withdrawn");
      }
      if (typed.length === 0) screen.line("");
      return typed.shift();
    },
    close: () => lines?.close(),
  };
}
