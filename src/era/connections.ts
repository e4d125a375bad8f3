import { type Cancel, type Connection, Fault, type IdleCaller, type Lease } from "../core/index.js";
import { SessionTable, type SessionTableOptions, type TableSession } from "./listen/session-table.js";

export interface ConnectionsOptions extends Pick<SessionTableOptions, "limit" | "spareMs" | "replaceable"> {
  /** Connections open at the same time. */
  readonly max: number;
  /** How many of these one owner may have; a quarter unless given. */
  readonly perOwner?: number | undefined;
  /** Milliseconds that a connection without calls is kept, unless the call that opens it says otherwise. */
  readonly idleMs: number;
}

/** Which connection a call needs. */
export interface WantedConnection {
  readonly key: string;
  /** The owner that the connection counts for. */
  readonly owner: string;
  /** Whether the call shows that its client is there. When the last such call has ended, the client has left. */
  readonly presence: boolean;
  /**
   * The caller that the connection is for, if it may have left silently. Its connection may then make room for another of the same owner,
   * and the caller ends.
   */
  readonly idle?: IdleCaller | undefined;
  /** If there is no room, the call waits for it until this fires, provided that something of the same owner may soon make room. */
  readonly gone?: Cancel | undefined;
  open(): Promise<Connection>;
}

/** Connections by key. Each is opened when first needed, and closed when its client has left or nothing has called for long. */
export interface Connections {
  readonly size: number;
  lease(wanted: WantedConnection): Promise<ConnectionLease>;
  /** The connection of that key, if there is one. */
  find(key: string): Promise<Connection> | undefined;
  /** Closes the connection of that key, if there is one. */
  end(key: string): void;
  close(): Promise<void>;
}

export interface ConnectionLease extends Lease {
  readonly service: Connection;
}

interface Session extends TableSession {
  /** Rejects if the connection is dropped before it is open. */
  readonly connection: Promise<Connection>;
  calls: number;
  /** Open calls that show that the client is there; undefined until there was one. */
  present: number | undefined;
}

/** Milliseconds to wait until a client's closed stream is noticed: the client may come back with another session before that. */
const SEEN_MS = 250;

export function connections({ max, perOwner, ...options }: ConnectionsOptions): Connections {
  const table = new SessionTable<Session>({ ...options, maxSessions: max, maxSessionsPerPrincipal: perOwner });
  const ending = new Set<Promise<void>>();
  let closed: Fault | undefined;

  const begin = ({ key, owner, idle, open }: WantedConnection): Session => {
    const session = table.begin(owner, () => {
      // A connection that is being closed still counts: a server that takes only one must be released before it is connected again.
      const room = table.size + ending.size < max ? Promise.resolve() : Promise.all(ending);
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
        get idleSince() {
          if (idle !== undefined) return idle.since;
          return this.calls > 0 ? undefined : this.touched;
        },
        end() {
          const end = close();
          ending.add(end);
          void end.finally(() => ending.delete(end));
        },
        displaced: (reason) => idle?.end(reason),
      };
    });
    session.connection.then(
      (connection) => void connection.closed.then(() => table.end(session, closedFault())),
      () => table.end(session, closedFault()),
    );
    return session;
  };
  /** Waits for room, if the call may wait. Afterwards `begin` decides whether there is room. */
  const roomFor = async ({ key, owner, gone }: WantedConnection): Promise<void> => {
    let looked = false;
    while (gone?.fired === false && closed === undefined && table.find(key, undefined) === undefined) {
      const at = table.roomAt(owner);
      const ms = at === undefined ? SEEN_MS : at - Date.now();
      if (ms <= 0 || (at === undefined && looked)) return;
      looked = true;
      await pause(ms, gone);
    }
  };
  const release = (session: Session, presence: boolean): void => {
    session.calls--;
    session.touched = Date.now();
    if (presence) session.present = (session.present ?? 1) - 1;
    // Not at once: a client that changes its log level ends one such call and begins another in the same turn.
    if (session.present === 0) setTimeout(() => void (session.calls === 0 && table.end(session, closedFault())), 0);
  };

  return {
    get size() {
      return table.size;
    },
    async lease(wanted) {
      const { presence } = wanted;
      if (closed !== undefined) throw closed;
      let session = table.find(wanted.key, undefined);
      if (session === undefined) {
        await roomFor(wanted);
        if (closed !== undefined) throw closed;
        session = table.find(wanted.key, undefined) ?? begin(wanted);
      }
      const leased = session;
      leased.calls++;
      if (presence) leased.present = (leased.present ?? 0) + 1;
      let released = false;
      const give = (): void => {
        if (!released) release(leased, presence);
        released = true;
      };
      try {
        return { service: await leased.connection, release: give };
      } catch (error) {
        give();
        throw error;
      }
    },
    find: (key) => table.find(key, undefined)?.connection,
    end(key) {
      const session = table.find(key, undefined);
      if (session !== undefined) table.end(session, closedFault());
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

/** Opening may take for ever. Neither the caller that wants the connection nor close() waits for it. */
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

function pause(ms: number, gone: Cancel): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    const unhook = gone.on(end);
    function end(): void {
      clearTimeout(timer);
      unhook?.();
      resolve();
    }
  });
}
