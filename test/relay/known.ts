import type { Rule } from "./rules.js";

/** A loss that is to be mended. It must still happen: whoever mends it removes the entry. */
export interface Known extends Rule {
  readonly promise: string;
}

export const known: readonly Known[] = [];
