import { performance } from "node:perf_hooks";

/** A contender: does its work `times` times, and returns the milliseconds that took. */
export interface Contender {
  readonly name: string;
  run(times: number): Promise<number>;
}

export interface Rated {
  readonly name: string;
  /** Times a second, in each round. */
  readonly rates: readonly number[];
}

export interface RoundsOptions {
  readonly rounds: number;
  /** Milliseconds of work a contender in each round. */
  readonly ms: number;
  /** Milliseconds of work before anything counts. */
  readonly warmUpMs: number;
}

/**
 * Lets the contenders take turns, A B C A B C, for short rounds: what else the machine does then hurts neighbours in time
 * alike, and the ratio of two of them in one round says more than the ratio of two means.
 */
export async function takeTurns(contenders: readonly Contender[], options: RoundsOptions): Promise<Rated[]> {
  const times: number[] = [];
  for (const contender of contenders) times.push(await warmUp(contender, options));
  const rated = contenders.map(({ name }) => ({ name, rates: [] as number[] }));
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      // Each round begins with another, so that nobody is always behind the same one.
      const at = (turn + round) % contenders.length;
      const count = times[at] as number;
      const ms = (await contenders[at]?.run(count)) ?? Number.NaN;
      rated[at]?.rates.push((count * 1000) / ms);
    }
  }
  return rated;
}

/** Works until it is warm; returns how many times fill a round. */
async function warmUp(contender: Contender, { ms, warmUpMs }: RoundsOptions): Promise<number> {
  let rate = 0;
  const until = performance.now() + warmUpMs;
  for (let times = 1; performance.now() < until; times = Math.max(1, Math.ceil(rate * Math.min(ms, until - performance.now())))) {
    rate = times / (await contender.run(times));
  }
  return Math.max(1, Math.round(rate * ms));
}

/** How many times as fast as `b` was `a`: the median over the rounds. */
export function ratio(a: Rated, b: Rated): number {
  return median(a.rates.map((rate, at) => rate / (b.rates[at] ?? Number.NaN)));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
