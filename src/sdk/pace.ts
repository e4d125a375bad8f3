import type { Id } from "../codec/index.js";

/** Holds back what belongs to calls whose readers are slow, by the credit that each of them grants. Order within a call is kept. */
export interface Pace {
  open(id: Id, window: number): void;
  grant(id: Id, bytes: number): void;
  /** Calls `go` when the call has credit, and takes `bytes` of it. A call that is not open has no limit. */
  take(id: Id, bytes: number, go: () => void): void;
  /** Calls `go` after all that waits, and closes the call. */
  last(id: Id, go: () => void): void;
  /** Nobody will grant any more: what waits goes on. */
  release(id: Id): void;
  close(): void;
}

interface Account {
  readonly window: number;
  room: number;
  readonly waiting: { readonly bytes: number; readonly go: () => void }[];
  /** Bytes that wait. */
  held: number;
}

/**
 * A handler that waits for its notifications to be sent is slowed by its reader. One that does not is let go once
 * `limit` bytes wait: then the reader's own limit ends the call.
 */
export function pace(limit: number): Pace {
  const accounts = new Map<Id, Account>();
  const flush = (account: Account): void => {
    while (account.room > 0) {
      const next = account.waiting.shift();
      if (next === undefined) return;
      account.room -= next.bytes;
      account.held -= next.bytes;
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
      accounts.set(id, { window, room: window, waiting: [], held: 0 });
    },
    grant(id, bytes) {
      const account = accounts.get(id);
      if (account === undefined) return;
      account.room = Math.min(account.room + bytes, account.window);
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
