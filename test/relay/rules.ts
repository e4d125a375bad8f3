import type { Difference } from "./exchange.js";

/** The headings of the page. */
export const sections = [
  "answers itself",
  "adds",
  "renumbers",
  "coalesces",
  "moves",
  "converts between eras",
  "must not pass",
  "cannot carry",
] as const;

/** Which differences a sentence is about: all that is given has to fit. */
export interface Rule {
  readonly section: (typeof sections)[number];
  readonly from: Difference["from"];
  /** The client's era and the server's; any unless given. */
  readonly eras?: readonly ("legacy" | "modern" | "legacy to modern" | "modern to legacy")[];
  readonly kinds: readonly Difference["kind"][];
  readonly what?: Difference["what"];
  readonly method?: RegExp;
  readonly path?: RegExp;
  /** Of the hops, joined by spaces. */
  readonly hops?: RegExp;
  /** Of the text that arrived. */
  readonly is?: RegExp;
  /** Of the text that was sent. */
  readonly was?: RegExp;
  /** It depends on the time: a run may go without. */
  readonly sometimes?: true;
  /** For the page: what happens, and why. */
  readonly text: string;
}

export function erasOf({ eras: { client, server } }: Difference): NonNullable<Rule["eras"]>[number] {
  if (client === server) return client;
  return client === "legacy" ? "legacy to modern" : "modern to legacy";
}

export function fits(rule: Rule, difference: Difference): boolean {
  return (
    rule.from === difference.from &&
    rule.kinds.includes(difference.kind) &&
    (rule.eras?.includes(erasOf(difference)) ?? true) &&
    (rule.what === undefined || rule.what === difference.what) &&
    (rule.method?.test(difference.method) ?? true) &&
    (rule.path?.test(difference.path) ?? true) &&
    (rule.hops?.test(difference.hops.join(" ")) ?? true) &&
    (rule.is?.test(difference.is ?? "") ?? true) &&
    (rule.was?.test(difference.was ?? "") ?? true)
  );
}

/** How often each rule was needed, and what none speaks of. */
export class Verdict {
  readonly used = new Map<Rule, number>();
  readonly unexplained: Difference[] = [];
  readonly #rules: readonly Rule[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  add(differences: readonly Difference[]): void {
    for (const difference of differences) {
      const rule = this.#rules.find((one) => fits(one, difference));
      if (rule === undefined) this.unexplained.push(difference);
      else this.used.set(rule, (this.used.get(rule) ?? 0) + 1);
    }
  }

  /** The rules of nothing that happened. */
  get stale(): readonly Rule[] {
    return this.#rules.filter((rule) => rule.sometimes !== true && !this.used.has(rule));
  }
}

/** One line for each way to differ, with how often and the shortest example. */
export function report(differences: readonly Difference[]): string {
  const groups = new Map<string, Difference[]>();
  for (const one of differences) {
    const key = `${erasOf(one)}: ${one.from}'s ${one.what} ${one.kind} ${one.path} (${one.method})`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups]
    .map(([key, all]) => {
      const { script, hops, was = "", is = "" } = all.reduce((least, one) => (one.hops.length < least.hops.length ? one : least));
      const where = [...new Set(all.map((one) => one.hops.join(">")))];
      return `${all.length} × ${key} in "${script}" over ${hops.join(">")} and ${where.length - 1} more: ${was.slice(0, 160)} → ${is.slice(0, 240)}`;
    })
    .join("\n");
}
