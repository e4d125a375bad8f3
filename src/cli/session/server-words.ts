import type { Fault } from "../../api/index.js";
import { cleanLine, shortened } from "../out/clean.js";
import type { Screen } from "../out/screen.js";

/** What a server prints besides the protocol: its stderr, and lines on stdout that are not messages. */
export interface ServerWords {
  readonly onStderr: (line: string) => void;
  /** The same for a line that was already shown. */
  readonly keep: (line: string) => void;
  readonly onFault: (fault: Fault) => void;
  /** The line of its stderr that best explains why it ended. */
  readonly last: string | undefined;
  /** What was wrong with the first line that was not a message. */
  readonly garbage: string | undefined;
  /** Resolves when the output of a server that has ended is complete: its stderr arrives a moment after its exit. */
  settled(): Promise<void>;
  /** Shows the last lines, unless they were shown as they came. A single line that is already in `told` is not repeated. */
  show(told: string): void;
}

const KEPT = 20;
/** Turns of the event loop to wait for more. */
const TURNS = 5;

/** The line that names an error, as runtimes print it before or after a stack. Otherwise the last line that is not part of a stack. */
export function tellingLine(lines: readonly string[]): string | undefined {
  const said = lines.map((line) => line.trim()).filter((line) => line !== "" && !/^(at |Node\.js v\d|\^+$)/.test(line));
  const named = said.filter((line) => /^(Uncaught )?([\w.]*(Error|Exception|Fault)\b[^:]*:|error:|fatal:|panic:)/i.test(line));
  return named.at(-1) ?? said.at(-1);
}

export function serverWords(screen: Screen, verbose: boolean): ServerWords {
  const kept: string[] = [];
  let garbage: string | undefined;
  let heard = 0;
  const write = (line: string): void => screen.line(screen.style.dim(`server| ${cleanLine(shortened(line))}`));
  const keep = (line: string): void => {
    heard++;
    kept.push(line);
    if (kept.length > KEPT) kept.shift();
  };
  return {
    keep,
    onStderr(line) {
      keep(line);
      if (verbose) write(line);
    },
    onFault(fault) {
      const why = fault.cause instanceof Error ? fault.cause.message : fault.message;
      if (fault.code === "parse" || fault.code === "invalid-request") garbage ??= why;
      if (verbose) screen.line(screen.style.dim(`wire  ${cleanLine(shortened(`${fault.code}: ${why}`))}`));
    },
    get last() {
      return tellingLine(kept);
    },
    get garbage() {
      return garbage;
    },
    async settled() {
      for (let before = -1, turn = 0; turn < TURNS || before !== heard; turn++) {
        before = heard;
        await new Promise((resolve) => setImmediate(resolve));
        if (turn > 100 * TURNS) return;
      }
    },
    show(told) {
      if (kept.length === 1 && told.includes(cleanLine(kept[0] ?? ""))) return;
      if (!verbose) for (const line of kept.splice(0)) write(line);
    },
  };
}
