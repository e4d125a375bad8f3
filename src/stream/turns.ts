type Schedule = (run: () => void) => unknown;

/** setImmediate runs as soon as other work was served. Browsers do not have it. */
const later: Schedule = (globalThis as { readonly setImmediate?: Schedule }).setImmediate ?? ((run) => setTimeout(run, 0));

/** Milliseconds that all loops together may use of one turn of the event loop. */
const TURN_MS = 10;
/** Rounds of a loop without a check: most loops end before that. */
const ROUNDS = 16;

/** When the first loop was checked in this turn. */
let since: number | undefined;
const begin = (): void => {
  since = undefined;
};

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise(later);
}

/**
 * For loops that only a timer, a signal or a peer can end, and that may never wait by themselves: settled promises let nothing else run.
 * Call it with the number of the round, and await the result.
 */
export function overtime(round: number): Promise<void> | undefined {
  if (round % ROUNDS !== 0) return undefined;
  const now = performance.now();
  if (since === undefined) {
    since = now;
    later(begin);
  }
  return now - since < TURN_MS ? undefined : nextTurn();
}
