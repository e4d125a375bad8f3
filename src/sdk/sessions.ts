import { type Connection, Fault } from "../core/index.js";
import type { Lease } from "./held.js";

export interface SessionsOptions {
  /** Connections at a time. */
  readonly limit: number;
  /** Milliseconds that a connection without calls is kept. */
  readonly idleMs: number;
}

/** Which connection a call needs. */
export interface Wanted {
  readonly key: string;
  /** Whether the call stands for its client's presence: when the last such has ended, so has the client. */
  readonly presence: boolean;
  open(): Promise<Connection>;
}

/** Connections by key: opened when first needed, closed when their client is gone or nothing has called for long. */
export interface Sessions {
  lease(wanted: Wanted): Promise<Lease>;
  close(): Promise<void>;
}

interface Session {
  /** Rejects when it is dropped before it was open. */
  readonly connection: Promise<Connection>;
  /** Closes it, or what will come of opening it. */
  end(): Promise<void>;
  calls: number;
  /** Calls that stand for the client's presence; undefined until there was one. */
  present: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The longest that a timer can wait. */
const MAX_MS = 2 ** 31 - 1;

export function sessions({ limit, idleMs }: SessionsOptions): Sessions {
  // The least recently used comes first.
  const kept = new Map<string, Session>();
  const ending = new Set<Promise<void>>();
  let closed: Fault | undefined;

  const drop = async (key: string, session: Session): Promise<void> => {
    clearTimeout(session.timer);
    if (kept.get(key) === session) kept.delete(key);
    const end = session.end();
    ending.add(end);
    await end;
    ending.delete(end);
  };
  const makeRoom = async (): Promise<void> => {
    if (kept.size >= limit) {
      const idle = [...kept].find(([, session]) => session.calls === 0);
      if (idle === undefined)
        throw new Fault("overload", "too many clients at a time for this server", { data: { limit: "sessions", max: limit } });
      void drop(...idle);
    }
    // What is being closed still counts: a single server has to be let go of before it is connected anew.
    if (kept.size + ending.size >= limit) await Promise.all(ending);
  };
  const begin = (key: string, open: () => Promise<Connection>): Session => {
    const opening = makeRoom().then(open);
    const session: Session = { ...opened(opening), calls: 0, present: undefined, timer: undefined };
    opening.then(
      (connection) => void connection.closed.then(() => drop(key, session)),
      () => drop(key, session),
    );
    return session;
  };
  const release = (key: string, session: Session, presence: boolean): void => {
    session.calls--;
    if (presence) session.present = (session.present ?? 1) - 1;
    if (session.calls > 0 || kept.get(key) !== session) return;
    const ms = session.present === 0 ? 0 : idleMs;
    if (ms > MAX_MS) return;
    // Not at once: whoever changes its log level ends one such call and begins another in the same turn.
    session.timer = setTimeout(() => void drop(key, session), ms);
    session.timer.unref();
  };

  return {
    async lease({ key, presence, open }) {
      if (closed !== undefined) throw closed;
      const session = kept.get(key) ?? begin(key, open);
      kept.delete(key);
      kept.set(key, session);
      clearTimeout(session.timer);
      session.calls++;
      if (presence) session.present = (session.present ?? 0) + 1;
      let released = false;
      const give = (): void => {
        if (!released) release(key, session, presence);
        released = true;
      };
      try {
        return { service: await session.connection, release: give };
      } catch (error) {
        give();
        throw error;
      }
    },
    async close() {
      closed ??= closedFault();
      await Promise.all([...kept].map(([key, session]) => drop(key, session)));
    },
  };
}

function closedFault(): Fault {
  return new Fault("unavailable", "the service was closed", { data: { reason: "closed" } });
}

/** Opening may take for ever, and nobody has to wait for that: neither who wants the connection nor who wants it closed. */
function opened(opening: Promise<Connection>): Pick<Session, "connection" | "end"> {
  let open: Connection | undefined;
  let stop: ((fault: Fault) => void) | undefined;
  const connection = new Promise<Connection>((resolve, reject) => {
    stop = reject;
    opening.then((made) => {
      open = made;
      resolve(made);
    }, reject);
  });
  connection.catch(() => {});
  return {
    connection,
    async end() {
      stop?.(closedFault());
      if (open !== undefined) return open.close();
      opening.then(
        (late) => late.close(),
        () => {},
      );
    },
  };
}
