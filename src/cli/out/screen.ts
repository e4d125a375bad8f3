import { clean, cleanLine, forPerson, isStyled } from "./clean.js";
import type { Style } from "./style.js";
import { fitted } from "./wrap.js";

/** The output for people: lines, and on a terminal a last line that changes. */
export interface Screen {
  readonly style: Style;
  line(text: string): void;
  /** Prints text without a line break, for an answer on the same line. */
  prompt(text: string): void;
  /**
   * Shows the progress: in place on a terminal, as lines if those are wanted, otherwise not at all. It is updated rarely enough to cost
   * nothing.
   */
  meter(text: () => string): void;
  /** Removes the meter. */
  clear(): void;
}

export interface ScreenOptions {
  readonly style: Style;
  /** Whether to print the meter as lines if it cannot be shown in place. */
  readonly meterLines: boolean;
}

type Stream = Pick<NodeJS.WriteStream, "write" | "columns" | "isTTY">;

const EVERY_MS = 100;

export function screen(stream: Stream, options: ScreenOptions): Screen {
  let shown = 0;
  let last = Number.NEGATIVE_INFINITY;
  // Overwriting with spaces needs no control codes, which NO_COLOR and dumb terminals do not want.
  const clear = (): void => {
    if (shown > 0) stream.write(`\r${" ".repeat(shown)}\r`);
    shown = 0;
  };
  return {
    style: options.style,
    line(text) {
      clear();
      stream.write(`${isStyled(text) ? forPerson(text) : fitted(clean(text), stream)}\n`);
    },
    prompt(text) {
      clear();
      stream.write(forPerson(text));
    },
    meter(text) {
      const now = performance.now();
      if (!(stream.isTTY || options.meterLines) || now - last < EVERY_MS) return;
      last = now;
      if (!stream.isTTY) return void stream.write(`${cleanLine(text())}\n`);
      const fitting = cleanLine(text()).slice(0, Math.max(1, (stream.columns || 80) - 1));
      stream.write(`\r${fitting.padEnd(shown)}`);
      shown = Math.max(shown, fitting.length);
    },
    clear,
  };
}
