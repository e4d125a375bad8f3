import { at, type Exact, exact, stringAt, textOf } from "./json.js";

/** A message as it arrived. */
export interface Heard {
  readonly text: string;
  readonly message: Exact;
  /** The id as text, `1` or `"1"`. */
  readonly id: string | undefined;
  readonly method: string | undefined;
}

/** What arrived at one end and nobody has taken yet. */
export class Inbox {
  #waiting: Heard[] = [];
  #wake: (() => void)[] = [];

  push(text: string): void {
    const message = exact(text);
    const id = at(message, "id");
    this.#waiting.push({ text, message, id: id === undefined ? undefined : textOf(id), method: stringAt(message, "method") });
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Takes the first message that fits, come or to come; undefined when there is none in time. */
  async next(fits: (heard: Heard) => boolean, ms: number): Promise<Heard | undefined> {
    return (await firstOf(ms, [this, fits]))?.heard;
  }

  /** Takes the first message that fits of those that came. */
  take(fits: (heard: Heard) => boolean): Heard | undefined {
    const index = this.#waiting.findIndex(fits);
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  onArrival(wake: () => void): void {
    this.#wake.push(wake);
  }

  /** Takes all that is left. */
  drain(): Heard[] {
    return this.#waiting.splice(0);
  }
}

/** Takes one message out of one of several inboxes: the first that fits, come or to come. */
export async function firstOf(
  ms: number,
  ...waits: readonly (readonly [Inbox, (heard: Heard) => boolean])[]
): Promise<{ readonly inbox: Inbox; readonly heard: Heard } | undefined> {
  const until = Date.now() + ms;
  for (;;) {
    for (const [inbox, fits] of waits) {
      const heard = inbox.take(fits);
      if (heard !== undefined) return { inbox, heard };
    }
    const left = until - Date.now();
    if (left <= 0) return undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      const wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
      for (const [inbox] of waits) inbox.onArrival(wake);
    });
  }
}
