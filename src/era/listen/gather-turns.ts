import { platform } from "../../stream/index.js";
/** Bytes that are gathered in one turn of the event loop. */
export const TURN_BYTES: number = 256 * 1024;

interface Waiting {
  readonly order: number;
  readonly go: () => void;
}

const waiting: Waiting[] = [];
let orders = 0;
let scheduled = false;

/** Where a call stands among those that gather their answers: the oldest goes first, so that one is whole before many have begun. */
export function gatherOrder(): number {
  return ++orders;
}

/**
 * Waits for its turn. One call of the process goes on in each turn of the event loop: whoever else wants to be served is, between
 * two of them, however many answers are gathered at once.
 */
export function gatherTurn(order: number): Promise<void> {
  return new Promise((go) => {
    waiting.push({ order, go });
    if (scheduled) return;
    scheduled = true;
    later(next);
  });
}

function next(): void {
  let chosen: Waiting | undefined;
  let place = 0;
  for (const [at, each] of waiting.entries())
    if (chosen === undefined || each.order < chosen.order) {
      chosen = each;
      place = at;
    }
  const last = waiting.pop();
  if (last !== undefined && last !== chosen) waiting[place] = last;
  scheduled = waiting.length > 0;
  if (scheduled) later(next);
  chosen?.go();
}

/** Node's own is as soon as the others were served; browsers have none. */
const later: (run: () => void) => unknown = platform.setImmediate ?? ((run) => setTimeout(run, 0));
