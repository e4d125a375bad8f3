import { type Node, parsePattern } from "./parse.js";
import { compilePattern, type Program, type Step } from "./program.js";

/** A regular expression that is tested in time linear in the text, whatever the pattern. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

/** Called with the number of steps before they are taken. It may throw to refuse them. */
export type Spend = (steps: number) => void;

/**
 * Tests like `new RegExp(source, "u")`, but without backtracking: all possible matches are followed at once. Throws a SyntaxError for an
 * invalid pattern, and a Fault `invalid-params` for a pattern with back-references or one that is too large.
 */
export function linearPattern(source: string, spend: Spend = () => {}): LinearPattern {
  const native = new RegExp(source, "u");
  const node = parsePattern(source);
  const plain = plainCost(node);
  if (plain !== undefined) {
    const test = (text: string): boolean => {
      spend((text.length * plain) / NATIVE);
      return native.test(text);
    };
    return { test, toString: () => native.toString() };
  }
  const program = compilePattern(node, source);
  const test = (text: string): boolean => {
    spend(program.size + text.length);
    return run(program, Array.from(text), spend, true).includes(1);
  };
  return { test, toString: () => native.toString() };
}

/** Characters that the platform's own engine reads in the time of one step. */
const NATIVE = 50;

/**
 * How often the platform's own engine may look at each character of the text, where that is bounded: for patterns that begin at the start
 * of the text and have one run of any length, as most patterns of schemas do. Undefined for every other pattern.
 */
function plainCost(node: Node): number | undefined {
  const [first, ...rest] = node.kind === "sequence" ? node.of : [node];
  if (first?.kind !== "at" || first.place !== "start") return undefined;
  let runs = 0;
  let fixed = 1;
  for (const part of rest) {
    if (part.kind === "one" || part.kind === "at") fixed++;
    else if (part.kind !== "repeat" || part.of.kind !== "one") return undefined;
    else if (part.min === part.max) fixed += part.min;
    else {
      fixed += part.min;
      runs++;
    }
  }
  return runs > 1 ? undefined : fixed;
}

const word = /\w/;

/** For each position, whether a match of the program ends there, or begins there if it reads backwards. `first`: one match is enough. */
function run({ steps, backwards }: Program, text: readonly string[], spend: Spend, first: boolean): Uint8Array {
  const ends = new Uint8Array(text.length + 1);
  const looks = new Map<Step, Uint8Array>();
  // The number of characters read when each step was last reached, so that each step is followed once at each position.
  const reached = new Int32Array(steps.length).fill(-1);
  let current: number[] = [];
  let following: number[] = [];
  const holds = (step: Extract<Step, { kind: "at" | "look" }>, at: number): boolean => {
    if (step.kind === "look") {
      let found = looks.get(step);
      if (found === undefined) looks.set(step, (found = run(step.program, text, spend, false)));
      return (found[at] === 1) !== step.negative;
    }
    if (step.place === "start") return at === 0;
    if (step.place === "end") return at === text.length;
    return (word.test(text[at - 1] ?? "") !== word.test(text[at] ?? "")) === (step.place === "edge");
  };
  for (let read = 0; read <= text.length; read++) {
    const at = backwards ? text.length - read : read;
    // A match may start anywhere.
    current.push(0);
    spend(current.length);
    const passing: Extract<Step, { kind: "one" }>[] = [];
    for (let index = current.pop(); index !== undefined; index = current.pop()) {
      if (reached[index] === read) continue;
      reached[index] = read;
      const step = steps[index] as Step;
      if (step.kind === "one") passing.push(step);
      else if (step.kind === "end") ends[at] = 1;
      else if (step.kind === "fork") {
        if (step.or >= 0) current.push(step.or);
        current.push(step.to);
      } else if (holds(step, at)) current.push(step.to);
    }
    if (first && ends[at] === 1) return ends;
    if (read === text.length) break;
    const character = text[backwards ? at - 1 : at] ?? "";
    for (const step of passing) if (step.fits(character)) following.push(step.to);
    spend(passing.length);
    [current, following] = [following, current];
  }
  return ends;
}
