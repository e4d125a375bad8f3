/**
 * Values by id, for what comes and goes with every call. A Map would do, were it not that V8 lets every table that a Map has
 * outgrown point to the next and keep what was in it: once one of them is old, all later ones outlive the collections of the
 * young generation, and with them the calls of the time.
 */
export class Registry<V extends object> {
  /** By open addressing. A key counts only where there is a value. */
  #keys: number[] = [];
  #values: (V | undefined)[] = [];
  #mask = 0;
  #count = 0;
  /** Few peers have ids that are strings. */
  #named: Map<string, V> | undefined;

  get size(): number {
    return this.#count + (this.#named?.size ?? 0);
  }

  get(id: number | string): V | undefined {
    return typeof id === "number" ? this.#values[this.#find(id)] : this.#named?.get(id);
  }

  has(id: number | string): boolean {
    return this.get(id) !== undefined;
  }

  set(id: number | string, value: V): void {
    if (typeof id !== "number") {
      (this.#named ??= new Map()).set(id, value);
      return;
    }
    // Many a link has one call in all, and that by a name.
    if (this.#mask === 0) this.#reset(LEAST);
    const at = this.#find(id);
    if (this.#values[at] === undefined) {
      if (this.#count * 2 > this.#mask) {
        this.#grow();
        this.set(id, value);
        return;
      }
      this.#count++;
    }
    this.#keys[at] = id;
    this.#values[at] = value;
  }

  delete(id: number | string): boolean {
    if (typeof id !== "number") return this.#named?.delete(id) === true;
    const mask = this.#mask;
    let gap = this.#find(id);
    if (this.#values[gap] === undefined) return false;
    // What would not be found any more, with a gap before it, moves into the gap.
    for (let at = (gap + 1) & mask; this.#values[at] !== undefined; at = (at + 1) & mask) {
      const key = this.#keys[at] ?? 0;
      if (((at - key) & mask) < ((at - gap) & mask)) continue;
      this.#keys[gap] = key;
      this.#values[gap] = this.#values[at];
      gap = at;
    }
    this.#values[gap] = undefined;
    if (--this.#count === 0 && mask >= MOST) this.#reset(LEAST);
    return true;
  }

  clear(): void {
    this.#reset(LEAST);
    this.#named?.clear();
  }

  /** What is there now: numbers first, from the lowest up. */
  values(): V[] {
    const numbered = this.#values.flatMap((value, at) => (value === undefined ? [] : [{ key: this.#keys[at] ?? 0, value }]));
    numbered.sort((a, b) => a.key - b.key);
    return [...numbered.map(({ value }) => value), ...(this.#named?.values() ?? [])];
  }

  /** Their ids, in the same order. */
  ids(): (number | string)[] {
    const numbers = this.#keys.filter((_, at) => this.#values[at] !== undefined).sort((a, b) => a - b);
    return [...numbers, ...(this.#named?.keys() ?? [])];
  }

  /** Where the id is, or belongs. */
  #find(id: number): number {
    let at = id & this.#mask;
    while (this.#values[at] !== undefined && this.#keys[at] !== id) at = (at + 1) & this.#mask;
    return at;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#reset(2 * values.length);
    for (const [at, value] of values.entries()) if (value !== undefined) this.set(keys[at] ?? 0, value);
  }

  #reset(capacity: number): void {
    this.#keys = new Array<number>(capacity).fill(0);
    this.#values = new Array<V | undefined>(capacity).fill(undefined);
    this.#mask = capacity - 1;
    this.#count = 0;
  }
}

/** Places, a power of two: those of an empty registry, and how many it keeps once it is empty again. */
const LEAST = 16;
const MOST = 1024;
