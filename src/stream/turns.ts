type Schedule = (run: () => void) => unknown;

/** Node's own is as soon as the others were served; browsers have none. */
const later: Schedule = (globalThis as { readonly setImmediate?: Schedule }).setImmediate ?? ((run) => setTimeout(run, 0));

/** Milliseconds that all loops together may take of one turn of the event loop. */
const TURN_MS = 10;
/** Rounds of a loop that are not looked at: most are over before. */
const ROUNDS = 16;

/** When the first loop looked in this turn. */
let since: number | undefined;
const begin = (): void => {
  since = undefined;
};

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise(later);
}

/**
 * For loops that nobody can end but a timer, a signal or a peer, and that may never wait by themselves: promises that are settled already
 * let nothing else run. Ask with the number of the round, and wait for what is returned.
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
