import { connect } from "node:net";
import { Fault, fixedTimeouts } from "../../core/index.js";
import { ClientConnection } from "./client-connection.js";

/** Connections of HTTP/1.1 to one host and port, with TLS or without. Further requests wait. */
export const MOST_CONNECTIONS = 1024;
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
  open: number;
  /** How many of the open ones are still connecting. */
  connecting: number;
}

interface IdleConnection {
  readonly connection: ClientConnection;
  /** When it must no longer be used: its server may be closing it by then. */
  readonly until: number;
}

/** How long a server is assumed to keep a connection, if it does not say. */
const IDLE_MS: number = fixedTimeouts.idleConnectionMs;
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

  /** Gives the request a connection, now or when there is one. */
  take(place: HostAndPort, request: WaitingRequest): void {
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
    if (this.#mayConnect(pool)) return request.onConnection(this.#connect(pool));
    pool.waiting.push(request);
    return undefined;
  }

  /** The request no longer waits for a connection. */
  forget(place: HostAndPort, request: WaitingRequest): void {
    const { waiting } = this.#pool(place);
    const at = waiting.indexOf(request);
    if (at >= 0) waiting.splice(at, 1);
  }

  /** Closes the connections that have no request. */
  dropKept(): void {
    for (const { free } of this.#pools.values()) for (const { connection } of free.splice(0)) connection.socket.destroy();
  }

  destroy(): void {
    const closed = new Fault("unavailable", "the client was closed", { data: { reason: "closed" } });
    for (const { waiting } of this.#pools.values()) for (const request of waiting.splice(0)) request.destroy(closed);
    for (const { socket } of this.#all) socket.destroy();
  }

  #pool(place: HostAndPort): Pool {
    const last = this.#last;
    if (last?.place.host === place.host && last.place.port === place.port) return last;
    const name = `${place.host}:${place.port}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) this.#pools.set(name, (pool = { place, free: [], waiting: [], open: 0, connecting: 0 }));
    this.#last = pool;
    return pool;
  }

  #mayConnect({ open, connecting }: Pool): boolean {
    return open < this.#most && (this.path === undefined || connecting < CONNECTING);
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
      if (this.#mayConnect(pool)) pool.waiting.shift()?.onConnection(this.#connect(pool));
    });
    socket.once("close", () => {
      pool.open--;
      settled();
      this.#all.delete(connection);
      const at = pool.free.findIndex((kept) => kept.connection === connection);
      if (at >= 0) pool.free.splice(at, 1);
      pool.waiting.shift()?.onConnection(this.#connect(pool));
    });
    return connection;
  }

  #freed(pool: Pool, connection: ClientConnection, keepMs = IDLE_MS): void {
    const request = pool.waiting.shift();
    if (request !== undefined) return request.onConnection(connection);
    const { socket } = connection;
    const keeps = Math.min(keepMs, IDLE_MS) - 1_000;
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
