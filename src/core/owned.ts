/** Things grouped by the owner that they count for, in the order in which they were added. */
export class Owned<T> {
  readonly #things = new Map<string, Set<T>>();

  of(owner: string): ReadonlySet<T> {
    return this.#things.get(owner) ?? nothing;
  }

  add(owner: string, thing: T): void {
    const things = this.#things.get(owner);
    if (things === undefined) this.#things.set(owner, new Set([thing]));
    else things.add(thing);
  }

  /** Makes a thing the last of its owner. */
  touch(owner: string, thing: T): void {
    const things = this.#things.get(owner);
    // Most owners have one. Deleting it would make V8 build both tables anew.
    if (things !== undefined && things.size > 1 && things.delete(thing)) things.add(thing);
  }

  delete(owner: string, thing: T): void {
    const things = this.#things.get(owner);
    if (things?.delete(thing) === true && things.size === 0) this.#things.delete(owner);
  }
}

const nothing: ReadonlySet<never> = new Set<never>();
