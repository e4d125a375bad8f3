import { Fault, type NoteReply, weigh } from "../../core/index.js";

/** Changes that wait for a reader as they came. With more of them, only the newest of each subject is kept. */
const UNREAD = 64;

/** What one subscriber has not read yet. */
export class ChangeQueue {
  readonly #callBytes: number;
  /** Unread changes, and what each is about. */
  readonly #unread: { readonly subject: string; readonly note: NoteReply }[] = [];
  /** What they add up to: a server may tell of any number of parts of a resource. */
  #bytes = 0;
  /** How many may be unread before those about one subject are merged. */
  #most = UNREAD;
  #wake: (() => void) | undefined;
  #reason: Fault | undefined;
  #ended = false;

  /** `callBytes` may wait for the reader. */
  constructor(callBytes: number) {
    this.#callBytes = callBytes;
  }

  add(subject: string, note: NoteReply): void {
    if (this.#reason !== undefined || this.#ended) return;
    this.#unread.push({ subject, note });
    this.#bytes += weigh(note.params);
    if (this.#unread.length > this.#most) this.#merge();
    if (this.#bytes > this.#callBytes) {
      this.#unread.length = 0;
      this.#reason = new Fault("overload", "the reader of this subscription is too slow for what its server tells", {
        data: { limit: "callBytes", max: this.#callBytes },
      });
    }
    this.#wake?.();
  }

  /** Nothing more comes: the reader is told why after what waits, or that this is the end. */
  end(reason?: Fault): void {
    this.#reason ??= reason;
    this.#ended = true;
    this.#wake?.();
  }

  /** The next change; undefined at the end. Throws why there is none. */
  async next(): Promise<NoteReply | undefined> {
    for (;;) {
      const first = this.#unread.shift();
      if (first !== undefined) {
        this.#bytes -= weigh(first.note.params);
        return first.note;
      }
      if (this.#reason !== undefined) throw this.#reason;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #merge(): void {
    const newest = [...new Map(this.#unread.map((waiting) => [waiting.subject, waiting])).values()];
    this.#unread.splice(0, this.#unread.length, ...newest);
    this.#most = Math.max(UNREAD, 2 * newest.length);
    this.#bytes = newest.reduce((sum, waiting) => sum + weigh(waiting.note.params), 0);
  }
}
