import { type Connection, Fault } from "../core/index.js";
import { SessionTable, type TableSession } from "../era/index.js";
import type { Lease } from "./held.js";

export interface SessionsOptions {
  /** Connections at a time. */
  readonly limit: number;
  /** Of these, those of one owner. */
  readonly perOwner: number | undefined;
  /** Milliseconds that a connection without calls is kept. */
  readonly idleMs: number;
}

/** Which connection a call needs. */
export interface Wanted {
  readonly key: string;
  /** Whom the connection counts for. */
  readonly owner: string;
  /** Whether the call stands for its client's presence: when the last such has ended, so has the client. */
  readonly presence: boolean;
  open(): Promise<Connection>;
}

/** Connections by key: opened when first needed, closed when their client is gone or nothing has called for long. */
export interface Sessions {
  lease(wanted: Wanted): Promise<Lease>;
  close(): Promise<void>;
}

interface Session extends TableSession {
  /** Rejects when it is dropped before it was open. */
  readonly connection: Promise<Connection>;
  calls: number;
  /** Calls that stand for the client's presence; undefined until there was one. */
  present: number | undefined;
}

export function sessions({ limit, perOwner, idleMs }: SessionsOptions): Sessions {
  const table = new SessionTable<Session>({
    limit: "sessions",
    maxSessions: limit,
    maxSessionsPerPrincipal: perOwner,
    idleMs,
    spareMs: 0,
    replaceable: true,
  });
  const ending = new Set<Promise<void>>();
  let closed: Fault | undefined;

  const begin = ({ key, owner, open }: Wanted): Session => {
    const session = table.begin(owner, () => {
      // What is being closed still counts: a single server has to be let go of before it is connected anew.
      const room = table.size + ending.size < limit ? Promise.resolve() : Promise.all(ending);
      const { connection, close } = opened(room.then(open));
      return {
        id: key,
        connection,
        touched: Date.now(),
        calls: 0,
        present: undefined,
        get connected() {
          return this.calls > 0;
        },
        get busy() {
          return this.calls > 0;
        },
        end() {
          const end = close();
          ending.add(end);
          void end.finally(() => ending.delete(end));
        },
      };
    });
    session.connection.then(
      (connection) => void connection.closed.then(() => table.end(session, closedFault())),
      () => table.end(session, closedFault()),
    );
    return session;
  };
  const release = (session: Session, presence: boolean): void => {
    session.calls--;
    session.touched = Date.now();
    if (presence) session.present = (session.present ?? 1) - 1;
    // Not at once: whoever changes its log level ends one such call and begins another in the same turn.
    if (session.present === 0) setTimeout(() => void (session.calls === 0 && table.end(session, closedFault())), 0);
  };

  return {
    async lease(wanted) {
      if (closed !== undefined) throw closed;
      const session = table.find(wanted.key, undefined) ?? begin(wanted);
      const { presence } = wanted;
      session.calls++;
      if (presence) session.present = (session.present ?? 0) + 1;
      let released = false;
      const give = (): void => {
        if (!released) release(session, presence);
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
      table.close(closed);
      await Promise.all(ending);
    },
  };
}

function closedFault(): Fault {
  return new Fault("unavailable", "the service was closed", { data: { reason: "closed" } });
}

/** Opening may take for ever, and nobody has to wait for that: neither who wants the connection nor who wants it closed. */
function opened(opening: Promise<Connection>): Pick<Session, "connection"> & { close(): Promise<void> } {
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
    async close() {
      stop?.(closedFault());
      if (open !== undefined) return open.close();
      opening.then(
        (late) => late.close(),
        () => {},
      );
    },
  };
}
