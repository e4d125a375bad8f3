/** Bytes that servers may send ahead of the readers of all calls of the process together, beyond the narrow window of each call. */
const AHEAD_BYTES = 64 * 1024 * 1024;
/** Less than this is not lent: it would make no call faster. */
const LEAST = 128 * 1024;

/** What is left of those. */
let left = AHEAD_BYTES;

/** Loans of readers that are garbage: they will never be returned. */
const abandoned = new FinalizationRegistry<Loan>((loan) => loan.lower(0));

/**
 * What one call has of those bytes: its server may send so much before it is read. One call gets at most a quarter of what is left, so that
 * calls that nobody reads leave something for the others.
 */
export class Loan {
  bytes = 0;

  constructor(reader: object) {
    abandoned.register(reader, this);
  }

  /** Takes more, until it is this much. Returns how much it is then. */
  raise(bytes: number): number {
    const more = Math.min(bytes - this.bytes, left >> 2);
    if (more >= LEAST) {
      left -= more;
      this.bytes += more;
    }
    return this.bytes;
  }

  /** Returns all but this much. */
  lower(bytes: number): void {
    if (bytes >= this.bytes) return;
    left += this.bytes - bytes;
    this.bytes = bytes;
  }
}
