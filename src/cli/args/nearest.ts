/** The number of characters to insert, delete, change or swap with their neighbour to turn `a` into `b`. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let last: number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Finds the name nearest to a wrong one among any number, and keeps only that one. */
export class Nearest {
  readonly #wrong: string;
  #found: string | undefined;
  #least: number;

  constructor(wrong: string) {
    this.#wrong = wrong.toLowerCase();
    // A name that differs more than this is not a typo. Nor is one without a single common character.
    this.#least = Math.min(Math.max(wrong.length < 5 ? 1 : 2, Math.floor(wrong.length / 3)) + 1, Math.max(1, wrong.length));
  }

  offer(name: string): void {
    if (Math.abs(name.length - this.#wrong.length) >= this.#least || this.#wrong.length > 500) return;
    const far = distance(this.#wrong, name.toLowerCase());
    if (far >= this.#least) return;
    this.#least = far;
    this.#found = name;
  }

  get found(): string | undefined {
    return this.#found;
  }
}

export function nearest(wrong: string, names: Iterable<string>): string | undefined {
  const search = new Nearest(wrong);
  for (const name of names) search.offer(name);
  return search.found;
}

/** The end of an error about an unknown name. */
export function suggestion(found: string | undefined): string {
  return found === undefined ? "" : `; did you mean ${found}?`;
}
