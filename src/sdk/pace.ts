import type { Id } from "../codec/index.js";

/** Holds back messages of calls whose readers are slow, by the credit that each reader grants. Order within a call is kept. */
export interface Pace {
  open(id: Id, window: number): void;
  /** The reader has read `messages` more that took credit, so their credit is available again. */
  grant(id: Id, messages: number): void;
  /** Calls `go` when the call has credit, and takes `bytes` of it; 0 takes none. A call that is not open has no limit. */
  take(id: Id, bytes: number, go: () => void): void;
  /** Calls `go` after everything that waits, and closes the call. */
  last(id: Id, go: () => void): void;
  /** No more credit will come, so waiting messages continue. */
  release(id: Id): void;
  close(): void;
}

interface CallCredit {
  room: number;
  /** The credit of the messages that were sent and not read yet, as far as known. */
  readonly unread: number[];
  readonly waiting: { readonly bytes: number; readonly go: () => void }[];
  /** Bytes that wait. */
  held: number;
}

/**
 * A handler that awaits its notifications is slowed down by its reader. One that does not is no longer held back once `limit` bytes wait:
 * then the reader's own limit ends the call.
 */
export function pace(limit: number): Pace {
  const accounts = new Map<Id, CallCredit>();
  const flush = (account: CallCredit): void => {
    while (account.room > 0) {
      const next = account.waiting.shift();
      if (next === undefined) return;
      account.room -= next.bytes;
      account.held -= next.bytes;
      if (next.bytes > 0) account.unread.push(next.bytes);
      next.go();
    }
  };
  const release = (id: Id): void => {
    const account = accounts.get(id);
    if (account === undefined) return;
    accounts.delete(id);
    account.room = Number.POSITIVE_INFINITY;
    flush(account);
  };
  const take = (id: Id, bytes: number, go: () => void): void => {
    const account = accounts.get(id);
    if (account === undefined) return go();
    account.waiting.push({ bytes, go });
    account.held += bytes;
    flush(account);
    if (account.held > limit) release(id);
  };

  return {
    open(id, window) {
      accounts.set(id, { room: window, unread: [], waiting: [], held: 0 });
    },
    grant(id, messages) {
      const account = accounts.get(id);
      if (account === undefined) return;
      for (const bytes of account.unread.splice(0, messages)) account.room += bytes;
      flush(account);
    },
    take,
    last(id, go) {
      take(id, 0, () => {
        accounts.delete(id);
        go();
      });
    },
    release,
    close() {
      for (const id of [...accounts.keys()]) release(id);
    },
  };
}
