import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect as connectSocket, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { Fault } from "../../core/index.js";
import { SESSION_MEMORY, WINDOW } from "./bounds.js";
import type { Dialled } from "./client-call.js";
import { Watch } from "./keepalive.js";
import type { Keepalive, Target } from "./types.js";

export interface ConnectionOptions {
  readonly keepalive: Keepalive;
  readonly connectMs: number;
  /** It takes calls. */
  readonly onReady: (connection: Connection) => void;
  /** A call ended: there may be room for another. */
  readonly onFree: () => void;
  /** It takes no more calls; those that it has may still end well. Called once. */
  readonly onGone: (connection: Connection, fault: Fault, how: Gone) => void;
  /** Its last call has ended, too. */
  readonly onClosed: (connection: Connection) => void;
}

/** Lost, or asked to leave: politely, or because it sent too many PINGs. */
export type Gone = "lost" | "asked" | "pinged";

/** One HTTP/2 connection to a target. */
export class Connection {
  readonly target: Target;
  readonly since: number = Date.now();
  readonly #options: ConnectionOptions;
  readonly #session: ClientHttp2Session;
  #socket: Duplex | undefined;
  readonly #watch: Watch;
  readonly #pseudo: { readonly scheme: string; readonly authority: string };
  #timer: NodeJS.Timeout | undefined;
  #state: "connecting" | "ready" | "gone" = "connecting";
  #error: Error | undefined;

  constructor(target: Target, options: ConnectionOptions) {
    this.target = target;
    this.#options = options;
    this.#pseudo = { scheme: "tls" in target && target.tls !== undefined ? "https" : "http", authority: authorityOf(target) };
    // The address in the URL is not used: the socket is made here.
    const session = (this.#session = connectHttp2(`${this.#pseudo.scheme}://localhost`, {
      createConnection: () => (this.#socket = socketTo(target)),
      settings: { initialWindowSize: WINDOW, enablePush: false },
      maxSessionMemory: SESSION_MEMORY,
    }));
    this.#watch = new Watch(session, options.keepalive, () => this.#lose(new Error("no answer to a PING")));
    this.#timer = setTimeout(() => this.#lose(new Error("connecting took too long")), options.connectMs);
    session.once("connect", () => {
      if (!session.destroyed) session.setLocalWindowSize(WINDOW);
    });
    session.once("remoteSettings", this.#onReady);
    // Where a server refuses the client's certificate the socket fails and stays, and the session does not hear of it.
    this.#socket?.once("error", (error: Error) => this.#lose(error));
    session.on("goaway", this.#onGoaway);
    session.on("error", (error) => {
      this.#error ??= error;
    });
    session.once("close", () => {
      this.#watch.stop();
      this.#gone("lost");
      options.onClosed(this);
    });
  }

  get calls(): number {
    return this.#watch.calls;
  }

  /** Whether the server lets it have another call. */
  get free(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    return !closed && !destroyed && this.#watch.calls < (remoteSettings?.maxConcurrentStreams ?? 100);
  }

  start(call: Dialled): void {
    this.#watch.add();
    call.open(this.#session, this.#pseudo, this.#onCallClosed);
  }

  /** Resolves when the socket is closed. Calls must have ended. */
  close(graceMs: number): Promise<void> {
    const session = this.#session;
    if (session.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#destroy(), graceMs);
      session.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      if (this.#state === "connecting") this.#destroy();
      else if (!session.closed) session.close();
    });
  }

  readonly #onCallClosed = (): void => {
    this.#watch.remove();
    this.#options.onFree();
  };

  readonly #onReady = (): void => {
    if (this.#state !== "connecting") return;
    clearTimeout(this.#timer);
    this.#state = "ready";
    this.#options.onReady(this);
  };

  readonly #onGoaway = (code: number, _last: number, why?: Uint8Array): void => {
    const words = why === undefined ? "" : Buffer.from(why).toString("latin1");
    this.#error ??= new Error(`the server said GOAWAY ${code} ${words}`.trimEnd());
    this.#gone(words === "too_many_pings" ? "pinged" : code === constants.NGHTTP2_NO_ERROR ? "asked" : "lost");
  };

  #lose(error: Error): void {
    this.#error ??= error;
    this.#destroy(error);
    this.#gone("lost");
  }

  /** The session's own destroy() waits until it is connected, or until all that was written has left. */
  #destroy(error?: Error): void {
    this.#session.destroy(error);
    this.#socket?.destroy();
  }

  #gone(how: Gone): void {
    if (this.#state === "gone") return;
    clearTimeout(this.#timer);
    const before = this.#state === "connecting" ? "the connection to the server failed" : "the connection to the server was lost";
    this.#state = "gone";
    const fault = new Fault("unavailable", this.#error === undefined ? before : `${before}: ${this.#error.message}`, {
      data: { reason: (this.#error as NodeJS.ErrnoException | undefined)?.code ?? "connection-lost" },
      cause: this.#error,
    });
    this.#options.onGone(this, fault, how);
  }
}

function authorityOf(target: Target): string {
  if (target.authority !== undefined) return target.authority;
  if (!("host" in target)) return "localhost";
  return `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
}

function socketTo(target: Target): Duplex {
  if ("duplex" in target) return target.duplex();
  if ("path" in target) return connectSocket({ path: target.path });
  const { host, port, tls } = target;
  if (tls === undefined) return connectSocket({ host, port, noDelay: true });
  const socket = connectTls({ host, port, ALPNProtocols: ["h2"], ...(isIP(host) === 0 && { servername: host }), ...tls });
  socket.setNoDelay(true);
  return socket;
}
