import { Fault, type NoteReply, weigh } from "../../core/index.js";

/** Up to this many changes wait for a reader as they came. Beyond that, only the newest change of each subject is kept. */
const UNREAD = 64;

/** The changes that one subscriber has not read yet. */
export class ChangeQueue {
  readonly #callBytes: number;
  /** The unread changes, each with its subject. */
  readonly #unread: { readonly subject: string; readonly note: NoteReply }[] = [];
  /** Their total weight: a server may report any number of parts of a resource. */
  #bytes = 0;
  /** How many changes may wait before those of one subject are merged. */
  #most = UNREAD;
  #wake: (() => void) | undefined;
  #reason: Fault | undefined;
  #ended = false;

  /** At most `callBytes` may wait for the reader. */
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
      this.#reason = new Fault("overload", "the reader of this subscription is too slow for what its server sends", {
        data: { limit: "callBytes", max: this.#callBytes },
      });
    }
    this.#wake?.();
  }

  /** Ends the queue. The reader first gets what waits, then the reason or the end. */
  end(reason?: Fault): void {
    this.#reason ??= reason;
    this.#ended = true;
    this.#wake?.();
  }

  /** The next change; undefined at the end. Throws the reason if there is one. */
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
