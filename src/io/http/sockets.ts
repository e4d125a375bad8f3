import { Agent, type ClientRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { fixedTimeouts } from "../../core/index.js";

export interface SocketsOptions {
  /** Connections to one host and port. Further requests wait. */
  readonly most: number;
  /** Connections that are kept without a request. */
  readonly kept: number;
  /** A Unix socket that all connections go to. */
  readonly path?: string | undefined;
}

interface Place {
  readonly hostname: string;
  readonly port: number;
}

/** The connections to one host and port. */
interface Pool {
  readonly place: Place;
  /** The last used is used next. */
  readonly free: Kept[];
  readonly waiting: ClientRequest[];
  open: number;
  /** How many of the open ones are still connecting. */
  connecting: number;
}

interface Kept {
  readonly socket: Socket;
  /** When it must no longer be used: its server may be closing it by then. */
  readonly until: number;
}

/** How long a server is assumed to keep a connection, if it does not say. */
const IDLE_MS = fixedTimeouts.idleConnectionMs;
/** Connections to a Unix socket that may be opening at the same time: beyond its backlog the system refuses them. */
const CONNECTING = 64;

/**
 * Kept-alive connections for `node:http` over plain TCP. It handles the one case that is needed here. In a profile, Node's own Agent took a
 * third of the time of a request.
 */
export class Sockets extends Agent {
  readonly #options: SocketsOptions;
  readonly #pools = new Map<string, Pool>();
  /** The one that was asked for last. Most clients have only one. */
  #last: Pool | undefined;
  readonly #all = new Set<Socket>();
  /** Milliseconds that the server keeps a connection, if it says so. */
  readonly #keeps = new WeakMap<Socket, number>();

  constructor(options: SocketsOptions) {
    super({ keepAlive: true, maxSockets: options.most });
    this.#options = options;
  }

  /** Node calls this to send a request on some connection. */
  addRequest(request: ClientRequest, { hostname, port }: { readonly hostname: string; readonly port?: number | string | null }): void {
    const pool = this.#pool({ hostname, port: Number(port) || 80 });
    for (let kept = pool.free.pop(); kept !== undefined; kept = pool.free.pop()) {
      const { socket, until } = kept;
      if (socket.destroyed || !socket.writable) continue;
      if (until > Date.now()) {
        socket.ref();
        return request.onSocket(socket);
      }
      socket.destroy();
    }
    if (this.#mayConnect(pool)) return request.onSocket(this.#connect(pool));
    pool.waiting.push(request);
    return undefined;
  }

  /** Notes how long the server of an answer keeps its connection. */
  heed(response: IncomingMessage): void {
    const hint = response.headers["keep-alive"];
    const seconds = hint === undefined ? undefined : /(?:^|[,;\s])timeout=(\d+)/i.exec(String(hint))?.[1];
    if (seconds !== undefined) this.#keeps.set(response.socket, Math.min(Number(seconds) * 1000, IDLE_MS));
  }

  /** Closes the connections that have no request. */
  dropKept(): void {
    for (const { free } of this.#pools.values()) for (const { socket } of free.splice(0)) socket.destroy();
  }

  override destroy(): void {
    for (const socket of this.#all) socket.destroy();
    super.destroy();
  }

  #pool(place: Place): Pool {
    const last = this.#last;
    if (last?.place.hostname === place.hostname && last.place.port === place.port) return last;
    const name = `${place.hostname}:${place.port}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) this.#pools.set(name, (pool = { place, free: [], waiting: [], open: 0, connecting: 0 }));
    this.#last = pool;
    return pool;
  }

  #mayConnect({ open, connecting }: Pool): boolean {
    return open < this.#options.most && (this.#options.path === undefined || connecting < CONNECTING);
  }

  #connect(pool: Pool): Socket {
    const { hostname: host, port } = pool.place;
    const { path } = this.#options;
    const socket = connect(
      path === undefined ? { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: fixedTimeouts.tcpKeepAliveMs } : { path },
    );
    pool.open++;
    pool.connecting++;
    this.#all.add(socket);
    let there = false;
    const settled = (): void => {
      if (!there) pool.connecting--;
      there = true;
    };
    socket.once("connect", () => {
      settled();
      if (pool.waiting.length > 0 && this.#mayConnect(pool)) pool.waiting.shift()?.onSocket(this.#connect(pool));
    });
    // While it is kept, nobody else listens for errors. Its close event is enough.
    socket.on("error", () => {});
    socket.on("free", () => this.#freed(pool, socket));
    socket.once("close", () => {
      pool.open--;
      settled();
      this.#all.delete(socket);
      const at = pool.free.findIndex((kept) => kept.socket === socket);
      if (at >= 0) pool.free.splice(at, 1);
      const next = pool.waiting.shift();
      if (next !== undefined) next.onSocket(this.#connect(pool));
    });
    return socket;
  }

  #freed(pool: Pool, socket: Socket): void {
    if (socket.destroyed || !socket.writable) return;
    const next = pool.waiting.shift();
    if (next !== undefined) return next.onSocket(socket);
    const keeps = (this.#keeps.get(socket) ?? IDLE_MS) - 1_000;
    if (pool.free.length >= this.#options.kept || keeps <= 0) return void socket.destroy();
    // Nobody waits for it, so it must not keep the process running.
    socket.unref();
    pool.free.push({ socket, until: Date.now() + keeps });
    return undefined;
  }
}
