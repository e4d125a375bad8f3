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

/** The place of a call among those that gather their answers. The oldest goes first, so that one is complete before many have begun. */
export function gatherOrder(): number {
  return ++orders;
}

/**
 * Waits for its turn. In each turn of the event loop one call of the process gathers. Other work is served between two turns, however many
 * answers are gathered at once.
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

/** setImmediate runs as soon as other work was served. Browsers do not have it. */
const later: (run: () => void) => unknown = platform.setImmediate ?? ((run) => setTimeout(run, 0));
