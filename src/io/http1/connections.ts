import { connect } from "node:net";
import { Fault, fixedTimeouts } from "../../core/index.js";
import { ClientConnection } from "./client-connection.js";

/** Connections of HTTP/1.1 to one host and port, with TLS or without. Further requests wait. */
export const MOST_CONNECTIONS = 1024;
/** Connections beyond those for urgent requests. Calls that have all the others may wait for one of these requests. */
export const URGENT_CONNECTIONS = 64;
/** Those of them that are kept without a request. */
export const KEPT_CONNECTIONS = 256;

export interface HttpConnectionsOptions {
  /** Connections to one host and port; MOST_CONNECTIONS unless given. */
  readonly most?: number | undefined;
  /** Connections that are kept without a request; KEPT_CONNECTIONS unless given. */
  readonly kept?: number | undefined;
  /** A Unix socket that all connections go to. */
  readonly path?: string | undefined;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** A request that needs a connection. */
export interface WaitingRequest {
  destroy(fault: Fault): void;
  onConnection(connection: ClientConnection): void;
}

/** The connections to one host and port. */
interface Pool {
  readonly place: HostAndPort;
  /** The last used is used next. */
  readonly free: IdleConnection[];
  readonly waiting: WaitingRequest[];
  readonly urgent: WaitingRequest[];
  open: number;
  /** How many of the open ones are still connecting. */
  connecting: number;
}

interface IdleConnection {
  readonly connection: ClientConnection;
  /** When it must no longer be used: its server may be closing it by then. */
  readonly until: number;
}

/** How long a connection is kept, even if its server would keep it for longer. */
const IDLE_MS: number = fixedTimeouts.idleConnectionMs;
/** A connection is not used within this time before its server closes it: a request could be lost on its way. */
const MARGIN_MS = 1_000;
/** How long a connection is kept if its server does not say anything. Many servers close it after 5 seconds: uvicorn is one. */
export const UNSAID_MS: number = 5_000 - MARGIN_MS;
/** Connections to a Unix socket that may be opening at the same time: beyond its backlog the system refuses them. */
const CONNECTING = 64;

/** Connections of HTTP/1.1 without TLS, which are kept for further requests. */
export class HttpConnections {
  /** The Unix socket that all of them go to, if there is one. */
  readonly path: string | undefined;
  readonly #most: number;
  readonly #kept: number;
  readonly #pools = new Map<string, Pool>();
  /** The one that was asked for last. Most clients have only one. */
  #last: Pool | undefined;
  readonly #all = new Set<ClientConnection>();

  constructor({ path, most = MOST_CONNECTIONS, kept = KEPT_CONNECTIONS }: HttpConnectionsOptions) {
    this.path = path;
    this.#most = most;
    this.#kept = kept;
  }

  /** Gives the request a connection, now or when there is one. An urgent one does not wait behind the others. */
  take(place: HostAndPort, request: WaitingRequest, urgent = false): void {
    const pool = this.#pool(place);
    for (let kept = pool.free.pop(); kept !== undefined; kept = pool.free.pop()) {
      const { connection, until } = kept;
      const { socket } = connection;
      if (socket.destroyed || !socket.writable) continue;
      if (until > Date.now()) {
        socket.ref();
        return request.onConnection(connection);
      }
      socket.destroy();
    }
    if (this.#mayConnect(pool, urgent)) return request.onConnection(this.#connect(pool));
    (urgent ? pool.urgent : pool.waiting).push(request);
    return undefined;
  }

  /** The request no longer waits for a connection. */
  forget(place: HostAndPort, request: WaitingRequest): void {
    const { waiting, urgent } = this.#pool(place);
    for (const line of [waiting, urgent]) {
      const at = line.indexOf(request);
      if (at >= 0) line.splice(at, 1);
    }
  }

  /** Closes the connections that have no request. */
  dropKept(): void {
    for (const { free } of this.#pools.values()) for (const { connection } of free.splice(0)) connection.socket.destroy();
  }

  destroy(): void {
    const closed = new Fault("unavailable", "the client was closed", { data: { reason: "closed" } });
    for (const { waiting, urgent } of this.#pools.values())
      for (const request of [...waiting.splice(0), ...urgent.splice(0)]) request.destroy(closed);
    for (const { socket } of this.#all) socket.destroy();
  }

  #pool(place: HostAndPort): Pool {
    const last = this.#last;
    if (last?.place.host === place.host && last.place.port === place.port) return last;
    const name = `${place.host}:${place.port}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) this.#pools.set(name, (pool = { place, free: [], waiting: [], urgent: [], open: 0, connecting: 0 }));
    this.#last = pool;
    return pool;
  }

  #mayConnect({ open, connecting }: Pool, urgent: boolean): boolean {
    return open < this.#most + (urgent ? URGENT_CONNECTIONS : 0) && (this.path === undefined || connecting < CONNECTING);
  }

  /** Opens a connection for the next request that waits, if there may be another. */
  #connectNext(pool: Pool): void {
    const line = pool.urgent.length > 0 ? pool.urgent : pool.waiting;
    if (this.#mayConnect(pool, line === pool.urgent)) line.shift()?.onConnection(this.#connect(pool));
  }

  #connect(pool: Pool): ClientConnection {
    const path = this.path;
    const socket = connect(
      path === undefined
        ? { ...pool.place, noDelay: true, keepAlive: true, keepAliveInitialDelay: fixedTimeouts.tcpKeepAliveMs }
        : { path },
    );
    const connection = new ClientConnection(socket, { freed: (freed, keepMs) => this.#freed(pool, freed, keepMs) });
    pool.open++;
    pool.connecting++;
    this.#all.add(connection);
    let there = false;
    const settled = (): void => {
      if (!there) pool.connecting--;
      there = true;
    };
    socket.once("connect", () => {
      settled();
      this.#connectNext(pool);
    });
    socket.once("close", () => {
      pool.open--;
      settled();
      this.#all.delete(connection);
      const at = pool.free.findIndex((kept) => kept.connection === connection);
      if (at >= 0) pool.free.splice(at, 1);
      this.#connectNext(pool);
    });
    return connection;
  }

  #freed(pool: Pool, connection: ClientConnection, keepMs?: number): void {
    const { socket } = connection;
    // What was opened for urgent requests is for them alone.
    const extra = pool.open > this.#most;
    const request = pool.urgent.shift() ?? (extra ? undefined : pool.waiting.shift());
    if (request !== undefined) return request.onConnection(connection);
    if (extra) return void socket.destroy();
    const keeps = keepMs === undefined ? UNSAID_MS : Math.min(keepMs, IDLE_MS) - MARGIN_MS;
    if (pool.free.length >= this.#kept || keeps <= 0) return void socket.destroy();
    // Nobody waits for it, so it must not keep the process running.
    socket.unref();
    const now = Date.now();
    pool.free.push({ connection, until: now + keeps });
    // The last used is used next, so after many requests at a time the first ones would be kept for ever.
    for (let [oldest] = pool.free; oldest !== undefined && oldest.until <= now; [oldest] = pool.free) {
      pool.free.shift();
      oldest.connection.socket.destroy();
    }
    return undefined;
  }
}
