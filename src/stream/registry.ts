/**
 * Values by id, for what comes and goes with every call. Unlike a Map, it does not keep old calls in memory: in V8 every table that a Map
 * has outgrown points to the next and keeps its content. Once one of them is in the old generation, all later ones survive young
 * collections, and the calls of that time with them.
 */
export class Registry<V extends object> {
  /** Open addressing. A key is valid only where there is a value. */
  #keys: number[] = [];
  #values: (V | undefined)[] = [];
  #mask = 0;
  #count = 0;
  /** Few peers use strings as ids. */
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
    // Many links have only one call, with a string id.
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
    // Entries that could not be found behind a gap move into it.
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

  /** The current values: those with numeric ids first, in ascending order. */
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

  /** Where the id is, or would be. */
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

/** Slots, a power of two: of an empty registry, and the most that are kept when it is empty again. */
const LEAST = 4;
const MOST = 1024;
