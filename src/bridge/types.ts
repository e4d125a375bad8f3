import type { ConnectOptions, ServeOptions } from "../api/index.js";
import type { Address, Fault, Layer, Listener, Observer, RestartOptions } from "../core/index.js";

/** What a server may ask of a client. */
export type Askable = "elicitation" | "sampling" | "roots";
export const askable: readonly Askable[] = ["elicitation", "sampling", "roots"];

/**
 * How clients share the server. `shared`: one upstream session for all. `own`: one for each client. `pool`: at most this many, each lent to
 * one client at a time. `auto`, the default: a modern server is shared. A legacy server is shared by clients that cannot be asked; those
 * that can get a session of their own, or from a pool if they are stateless.
 */
export type SessionMode = "auto" | "shared" | "own" | { readonly pool: number };

/** An address to listen on, with options for that listener only. */
export interface ListenAt {
  readonly address: Address;
  readonly options?: ServeOptions | undefined;
}

/** How the server is dialed. */
export type UpstreamDialOptions = Omit<
  ConnectOptions,
  "client" | "fanIn" | "layers" | "signal" | "observe" | "onFault" | "onStderr" | "restart" | "info"
>;

export interface BridgeOptions {
  /** Where to listen. */
  readonly listen: readonly (Address | ListenAt)[];
  /** The server: a command, or any address. */
  readonly to: Address;
  /** Layers around the upstream; the first is the outermost. */
  readonly layers?: readonly Layer[] | undefined;
  readonly sessions?: SessionMode | undefined;
  /** What a session that several clients use says that it can be asked; all three unless given. */
  readonly offer?: readonly Askable[] | undefined;
  /** Options for dialing the server: `headers`, `tls`, `era`, `limits` and so on. */
  readonly dial?: UpstreamDialOptions | undefined;
  /** Options for every listener. */
  readonly serve?: ServeOptions | undefined;
  /**
   * A secret of at least 32 random bytes; a random one for the process unless given. Bridges behind a load balancer that share one can read
   * each other's `requestState`s.
   */
  readonly sealKey?: string | Uint8Array | undefined;
  /** How to start a lost server, or connect to it, again. */
  readonly restart?: RestartOptions | undefined;
  /**
   * Milliseconds without a call, stream, subscription or question after which an upstream is stopped; never unless given. It starts again
   * with the next call.
   */
  readonly idleStopMs?: number | undefined;
  /** Starts the server with the first call instead of at once. If the server cannot start, that call fails. */
  readonly lazy?: boolean | undefined;
  /**
   * Milliseconds that a call may take once it has a session, without the time that it waits for answers to its questions; no limit unless
   * given.
   */
  readonly callMs?: number | undefined;
  /** Milliseconds after which a client that has left silently loses its session, and its upstream with it; 5 minutes unless given. */
  readonly clientIdleMs?: number | undefined;
  /** The same for a client that had a stream open, closed it and has sent nothing since; 2 minutes unless given. */
  readonly clientLeftMs?: number | undefined;
  /** Upstream sessions at the same time; unless given, 64 if each is a process, otherwise 4,096. */
  readonly maxUpstreams?: number | undefined;
  /**
   * How many of these one principal may have; half of `maxUpstreams` unless given. Callers without a principal count by remote address.
   */
  readonly maxUpstreamsPerPrincipal?: number | undefined;
  /** Sessions of the pool that `auto` uses for stateless clients; three quarters of `maxUpstreams` unless given. */
  readonly poolSize?: number | undefined;
  /** Milliseconds that a caller waits for a session of the pool, or for the server to start; 30,000 unless given. */
  readonly waitMs?: number | undefined;
  /** Watches both sides. */
  readonly observe?: Observer | undefined;
  /** Called with what went wrong outside any call. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Called with each line that a child wrote on its stderr. Without it they go to this process's stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
}

/**
 * What the server is doing. `idle`: not started, or stopped because nobody used it. `backing-off`: lost, and started again after a pause.
 * `failed`: lost too often; calls fail at once, and it is tried again from time to time. `stopped`: the bridge is closed.
 */
export type UpstreamState = "idle" | "starting" | "ready" | "backing-off" | "failed" | "stopped";

export interface UpstreamStatus {
  readonly state: UpstreamState;
  /**
   * The state, after a remote server with a session was asked whether it is there. It is asked at most once in 5 seconds, and has 2 seconds
   * to answer.
   */
  check(): Promise<UpstreamState>;
  /** Upstream sessions that are open. */
  readonly sessions: number;
  /** Child processes that run. */
  readonly children: number;
  /** How often a session was restored after a loss, or a server was started again after a failure. */
  readonly restarts: number;
  /** Why the server was last lost, or did not start. */
  readonly lastFault?: Fault | undefined;
}

/** A running bridge, until it is closed. */
export interface Bridge extends AsyncDisposable {
  readonly listeners: readonly Listener[];
  readonly upstream: UpstreamStatus;
  /**
   * Resolves when the bridge has ended, with the reason if it ended by itself, for example when its only listener was stdio and the client
   * left.
   */
  readonly closed: Promise<Fault | undefined>;
  /** Drains the listeners, then stops the server. */
  close(): Promise<void>;
}
