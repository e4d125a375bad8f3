import type { Cancel } from "./cancel.js";
import type { FanIn } from "./fan-in.js";
import type { Fault } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Limits } from "./limits.js";
import type { Observer } from "./observe.js";
import { type Era, type Layer, layered, type Service } from "./service.js";

/** A child process to dial: never through a shell. */
export interface Command {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the allowed part of the parent's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of other variables of the parent that the child may see. */
  readonly inherit?: readonly string[];
  /** The protocol on its standard streams; `stdio`, which is newline-delimited JSON-RPC, unless given. */
  readonly speaks?: "stdio" | "grpc+stdio" | "http+stdio" | "proto+stdio";
}

/** Where a wire listens or dials: `memory:name`, `stdio:`, a URL, or a command to start. */
export type Address = string | Command;

/** The port of an address that names none, and the first that the command tries. */
export const DEFAULT_PORT = 8000;

/** The path of Streamable HTTP and WebSocket, where an address or an option names none. */
export const MCP_PATH = "/mcp";
/** The same of HTTP+SSE. */
export const SSE_PATH = "/sse";

export interface WireOptions {
  /** See docs/limits.md. */
  readonly limits?: Partial<Limits> | undefined;
  /** Called with what went wrong outside any call: garbage dropped, a stray response. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Watches calls, frames, sessions, upstreams, child processes and refusals. */
  readonly observe?: Observer | undefined;
  /** The name of the wire in the observer's events. The wire sets it itself. */
  readonly wire?: string | undefined;
}

export interface ListenOptions extends WireOptions {
  /** Eras served; both unless said otherwise. */
  readonly eras?: readonly Era[] | undefined;
  /** Items in a page, on wires that have pages. */
  readonly pageSize?: number | undefined;
  /**
   * How to treat callers that have neither a session, a stream nor credentials. `each`, the default: every call is a separate caller.
   * `one`: all of them are the same caller, so they may see each other's logs and be asked each other's questions.
   */
  readonly anonymous?: "each" | "one" | undefined;
  /** Milliseconds that calls in flight have to finish when the listener closes; 5,000 unless given, 0 for none. */
  readonly drainMs?: number | undefined;
  /**
   * A secret of at least 32 random bytes that seals `requestState`s; a random one for the process unless given. Processes behind a load
   * balancer that share one can read each other's states. That helps only if the call waits in a server behind them, not in one of the
   * processes.
   */
  readonly sealKey?: string | Uint8Array | undefined;
}

/** How a lost peer is started, or connected to, again. Each attempt that fails doubles the pause before the next. */
export interface RestartOptions {
  /** Milliseconds before the first attempt; 50 unless given. */
  readonly firstMs?: number | undefined;
  /** Milliseconds between two attempts at most; 10,000 unless given. */
  readonly longestMs?: number | undefined;
  /** Failures in a row after which calls are refused at once, instead of waiting for the next attempt; no limit unless given. */
  readonly tries?: number | undefined;
  /** Milliseconds between two attempts after that; 60,000 unless given. */
  readonly slowMs?: number | undefined;
}

export interface DialOptions extends WireOptions {
  /** `auto` detects the era as the specification says. */
  readonly era?: Era | "auto" | undefined;
  /** The client's info, and the capabilities that say what it can be asked. */
  readonly client?: { readonly info?: JsonObject; readonly capabilities?: JsonObject } | undefined;
  /** How callers share the connection; `sharedByAll` unless given. */
  readonly fanIn?: FanIn | undefined;
  /** Milliseconds of silence after which a probed peer counts as legacy; 10,000 unless given. docs/limits.md has all time-outs. */
  readonly probeMs?: number | undefined;
  /** Milliseconds until a peer that does not answer is given up; 60,000 unless said otherwise. */
  readonly handshakeMs?: number | undefined;
  /** Milliseconds that a call waits for a lost connection to come back, on wires that reconnect; 5,000 unless given. */
  readonly reconnectMs?: number | undefined;
  /** When and how often to reconnect. A child process is started again only if this is given. */
  readonly restart?: RestartOptions | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each line that a child wrote on its stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
}

/** An address of a listener, and the wire that is spoken there. */
export interface ListenAddress {
  readonly wire: string;
  readonly address: string;
}

/** A place where calls come in. */
export interface Listener extends AsyncDisposable {
  /** The address to dial, with the port that was chosen. */
  readonly address: string;
  /** All addresses, where there is more than one. */
  readonly addresses?: readonly ListenAddress[] | undefined;
  /** Resolves when the listener has ended, by itself or by close(). */
  readonly closed: Promise<void>;
  /** Refuses new calls, gives those in flight `drainMs` to finish, answers the rest with `unavailable`, and ends. */
  close(): Promise<void>;
}

/** A service at the other end of a wire. */
export interface Connection extends Service, AsyncDisposable {
  readonly era: Era;
  readonly protocolVersion: string;
  /** Resolves with the reason when the connection has ended; undefined after close(). */
  readonly closed: Promise<Fault | undefined>;
  /** Fails every open call, and stops what dialing started. */
  close(): Promise<void>;
  /**
   * Asks the server whether it is there. Rejects if no answer comes, or when `cancel` fires. If the server now speaks another era, the
   * connection ends, unless an era was demanded.
   */
  readonly check?: ((cancel: Cancel) => Promise<void>) | undefined;
}

/** A connection with layers around it, the first outermost. */
export function layeredConnection(connection: Connection, ...layers: readonly Layer[]): Connection {
  if (layers.length === 0) return connection;
  const service = layered(connection, ...layers);
  return {
    call: (request, context) => service.call(request, context),
    notify: (notification, context) => service.notify(notification, context),
    era: connection.era,
    protocolVersion: connection.protocolVersion,
    closed: connection.closed,
    close: () => connection.close(),
    check: connection.check,
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** A wire is an edge: `listen` turns connections into calls on a service, `dial` gives a service that speaks to a peer. */
export interface Wire {
  readonly name: string;
  /** Whether an address is this wire's. */
  accepts(address: Address): boolean;
  listen(service: Service, address: Address, options: ListenOptions): Promise<Listener>;
  dial(address: Address, options: DialOptions): Promise<Connection>;
}
