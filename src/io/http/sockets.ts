import { Agent, type ClientRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { fixedTimeouts } from "../../core/index.js";

export interface SocketsOptions {
  /** Connections to one place; requests beyond wait for one. */
  readonly most: number;
  /** Connections that are kept without a request. */
  readonly kept: number;
  /** A Unix socket, which is where all of them go. */
  readonly path?: string | undefined;
}

interface Place {
  readonly hostname: string;
  readonly port: number;
}

/** The connections to one place. */
interface Pool {
  readonly place: Place;
  /** The one used last is used next. */
  readonly free: Kept[];
  readonly waiting: ClientRequest[];
  open: number;
  /** Of those, the ones that are not there yet. */
  connecting: number;
}

interface Kept {
  readonly socket: Socket;
  /** When it is not to be used any more: its server may be closing it by then. */
  readonly until: number;
}

/** How long a server is trusted to keep a connection that has not said so. */
const IDLE_MS = fixedTimeouts.idleConnectionMs;
/** Connections to a Unix socket that are made at a time: beyond its backlog the system refuses them. */
const CONNECTING = 64;

/**
 * Kept-alive connections for `node:http` over plain TCP. It does for one request what Node's own Agent does for many cases: profiled,
 * that one took a third of the time of a request.
 */
export class Sockets extends Agent {
  readonly #options: SocketsOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #all = new Set<Socket>();
  /** Milliseconds that the server of a connection keeps it, where it says. */
  readonly #keeps = new WeakMap<Socket, number>();

  constructor(options: SocketsOptions) {
    super({ keepAlive: true, maxSockets: options.most });
    this.#options = options;
  }

  /** What Node calls to have a request sent on some connection. */
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

  /** Takes note of how long the server of an answer keeps its connection. */
  heed(response: IncomingMessage): void {
    const hint = response.headers["keep-alive"];
    const seconds = hint === undefined ? undefined : /(?:^|[,;\s])timeout=(\d+)/i.exec(String(hint))?.[1];
    if (seconds !== undefined) this.#keeps.set(response.socket, Math.min(Number(seconds) * 1000, IDLE_MS));
  }

  /** Closes the connections that no request is on. */
  dropKept(): void {
    for (const { free } of this.#pools.values()) for (const { socket } of free.splice(0)) socket.destroy();
  }

  override destroy(): void {
    for (const socket of this.#all) socket.destroy();
    super.destroy();
  }

  #pool(place: Place): Pool {
    const name = `${place.hostname}:${place.port}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) this.#pools.set(name, (pool = { place, free: [], waiting: [], open: 0, connecting: 0 }));
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
    // While it is kept nobody else would hear of an error; its end is enough to know.
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
    // Nobody waits for it, so it does not keep the process.
    socket.unref();
    pool.free.push({ socket, until: Date.now() + keeps });
    return undefined;
  }
}
