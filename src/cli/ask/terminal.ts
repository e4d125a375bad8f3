import type { Interface } from "node:readline";
import { Fault } from "../../api/index.js";
import { forPerson } from "../out/clean.js";
import type { Screen } from "../out/screen.js";

/** Asks a person. */
export interface Terminal {
  readonly screen: Screen;
  /** Returns the typed line; undefined when there is no more input. Rejects when `signal` aborts. One question at a time. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/**
 * Asks on `screen`, and reads lines from what `open` opens at the first question. With `terminal: false` the terminal stays in its usual
 * mode: it edits the line itself, and Ctrl-C is a signal as always. Otherwise the reader edits, and keeps reading between questions to see
 * the keys.
 */
export function askTerminal(open: () => Interface, screen: Screen): Terminal {
  let lines: Interface | undefined;
  let ended = false;
  const typed: string[] = [];
  let wake: (() => void) | undefined;

  const opened = (): Interface => {
    const reader = open();
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
      lines ??= opened();
      if (lines.terminal && !ended) {
        screen.clear();
        lines.setPrompt(forPerson(question));
        lines.prompt();
      } else screen.prompt(question);
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
      if (!ended && !lines.terminal) lines.pause();
      if (signal.aborted) {
        if (lines.terminal) lines.write(null, { ctrl: true, name: "u" });
        screen.line("");
        throw new Fault("cancelled", "the question was withdrawn");
      }
      if (typed.length === 0) screen.line("");
      return typed.shift();
    },
    close: () => lines?.close(),
  };
}
