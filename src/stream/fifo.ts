/** A first-in, first-out queue whose shift() costs the same however long it is. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const head = this.#head;
    if (head === this.#items.length) return undefined;
    const item = this.#items[head];
    this.#items[head] = undefined;
    this.#head = head + 1;
    // Moving the rest down once half is used keeps the array within twice its content, at a constant cost for each item.
    if (this.#head >= 64 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
