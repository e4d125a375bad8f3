import { type Node, unsafe } from "./parse.js";

/** A step of a program: match a character, fork, check the position, or end. The numbers are the steps to go to. */
export type Step =
  | { readonly kind: "one"; readonly fits: (character: string) => boolean; to: number }
  | { readonly kind: "fork"; to: number; or: number }
  | { readonly kind: "at"; readonly place: Extract<Node, { kind: "at" }>["place"]; to: number }
  | { readonly kind: "look"; readonly program: Program; readonly negative: boolean; to: number }
  | { readonly kind: "end" };

/** A compiled pattern. It starts at its first step. */
export interface Program {
  readonly steps: readonly Step[];
  /** Reads the text from its end to its beginning. */
  readonly backwards: boolean;
  /** The number of steps, including those of its lookaround programs. */
  readonly size: number;
}

/** Limit on the steps of a program. Counted repeats are written out. */
const MOST = 20_000;

/** Compiles a pattern into steps. A lookahead becomes a program that reads backwards, so that it finds where its matches begin. */
export function compilePattern(node: Node, source: string, backwards = false, budget: { left: number } = { left: MOST }): Program {
  const steps: Step[] = [];
  const before = budget.left;
  const add = <S extends Step>(step: S): S => {
    if (--budget.left < 0) throw unsafe(source, "it is too large");
    steps.push(step);
    return step;
  };
  const write = (from: Node): void => {
    switch (from.kind) {
      case "one":
        add({ kind: "one", fits: fitting(from.source), to: steps.length + 1 });
        return;
      case "at":
        add({ kind: "at", place: from.place, to: steps.length + 1 });
        return;
      case "look":
        add({
          kind: "look",
          program: compilePattern(from.of, source, !from.behind, budget),
          negative: from.negative,
          to: steps.length + 1,
        });
        return;
      case "sequence":
        for (const each of backwards ? [...from.of].reverse() : from.of) write(each);
        return;
      case "choice":
        return choose(from.of);
      case "repeat":
        return repeat(from.of, from.min, from.max);
    }
  };
  const choose = (branches: readonly Node[]): void => {
    const last = branches.length - 1;
    const leaving: { to: number }[] = [];
    for (const [index, branch] of branches.entries()) {
      const fork = index < last ? add({ kind: "fork", to: steps.length + 1, or: 0 }) : undefined;
      write(branch);
      if (fork === undefined) continue;
      leaving.push(add({ kind: "fork", to: 0, or: -1 }));
      fork.or = steps.length;
    }
    for (const step of leaving) step.to = steps.length;
  };
  const repeat = (of: Node, min: number, max: number): void => {
    for (let time = 0; time < min; time++) write(of);
    if (max === Number.POSITIVE_INFINITY) {
      const loop = steps.length;
      const fork = add({ kind: "fork", to: loop + 1, or: 0 });
      write(of);
      add({ kind: "fork", to: loop, or: -1 });
      fork.or = steps.length;
      return;
    }
    const skips: { or: number }[] = [];
    for (let time = min; time < max; time++) {
      skips.push(add({ kind: "fork", to: steps.length + 1, or: 0 }));
      write(of);
    }
    for (const skip of skips) skip.or = steps.length;
  };
  write(node);
  add({ kind: "end" });
  return { steps, backwards, size: before - budget.left };
}

/** Whether a character matches one element of a pattern. The platform's engine decides; for ASCII characters the answer is cached. */
function fitting(source: string): (character: string) => boolean {
  const native = new RegExp(`^(?:${source})$`, "u");
  const known = new Int8Array(128);
  return (character) => {
    const code = character.charCodeAt(0);
    if (code >= known.length) return native.test(character);
    known[code] ||= native.test(character) ? 1 : -1;
    return known[code] === 1;
  };
}
