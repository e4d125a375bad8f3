import type { FanIn } from "./fan-in.js";
import type { Fault } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Observer } from "./observe.js";
import type { Era, Service } from "./service.js";

/** A child process to dial: never through a shell. */
export interface Command {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the allowed part of the parent's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of further variables of the parent that the child may see. */
  readonly inherit?: readonly string[];
  /** What is spoken on its standard streams: newline JSON-RPC, `stdio`, unless given. */
  readonly speaks?: "stdio" | "grpc+stdio";
}

/** Where a wire listens or dials: `memory:name`, `stdio:`, a URL, or a command to start. */
export type Address = string | Command;

/** What bounds the memory, and some times. Every limit is also a fault that names it. */
export interface Limits {
  /** Bytes of one message. */
  readonly messageBytes: number;
  /** Nesting of one message. */
  readonly depth: number;
  /** Bytes that wait for one call's reader, from a peer that cannot be slowed. */
  readonly callBytes: number;
  /** Bytes that wait to be written before new calls are refused, or, where calls come in, not taken. */
  readonly backlogBytes: number;
  /** Calls of one peer at a time. */
  readonly inFlight: number;
  /** Lists that a listener keeps between two pages, and as many calls that wait for the answers to their questions. */
  readonly parked: number;
  /** Of these, those of one principal; of callers without one, those from one remote address. */
  readonly parkedPerPrincipal: number;
  /** Of these, those of one caller that can be told apart: a stream, a session, a client of a relay. */
  readonly parkedPerCaller: number;
  /** Milliseconds that a list is kept for the next page to be asked for. */
  readonly parkedMs: number;
  /** Milliseconds that a call waits for the answers to its questions, which people may have to give. */
  readonly answerMs: number;
  /** Bytes that are held in total for all connections of the process, those of other listeners among them. */
  readonly processBytes: number;
  /** Bytes that are held in total for one caller, on however many connections. */
  readonly identityBytes: number;
  /** Bytes that are held in total for one connection. */
  readonly connectionBytes: number;
  /** Bytes beside those, for small calls while the others are used up. */
  readonly reserveBytes: number;
  /** Milliseconds for a message to arrive whole. */
  readonly messageMs: number;
  /** Milliseconds that a client may take none of what waits for it before its connection is closed. */
  readonly stalledMs: number;
}

const MIB = 1024 * 1024;

export const defaultLimits: Limits = {
  messageBytes: 64 * MIB,
  depth: 256,
  callBytes: MIB,
  backlogBytes: 8 * MIB,
  inFlight: 4096,
  parked: 4096,
  parkedPerPrincipal: 1024,
  parkedPerCaller: 256,
  parkedMs: 60_000,
  answerMs: 10 * 60_000,
  processBytes: 256 * MIB,
  identityBytes: 64 * MIB,
  connectionBytes: 64 * MIB,
  reserveBytes: 16 * MIB,
  messageMs: 60_000,
  stalledMs: 60_000,
};

export interface WireOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** Hears of what went wrong outside any call: garbage dropped, a stray response. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Watches calls, frames, sessions, upstreams, child processes and refusals. */
  readonly observe?: Observer | undefined;
  /** What the observer is told that the wire is called. The wire sets it itself. */
  readonly wire?: string | undefined;
}

export interface ListenOptions extends WireOptions {
  /** Eras served; both unless said otherwise. */
  readonly eras?: readonly Era[] | undefined;
  /** Items of a page where the wire pages. */
  readonly pageSize?: number | undefined;
  /**
   * Who callers are that have neither a session, a stream nor credentials. `each`, the default: every call is a caller of its own.
   * `one`: all of them are the same caller, so they may hear each other's logs and be asked each other's questions.
   */
  readonly anonymous?: "each" | "one" | undefined;
  /** Milliseconds that calls in flight have to finish when the listener closes; 5,000 unless given, 0 for none. */
  readonly drainMs?: number | undefined;
}

export interface DialOptions extends WireOptions {
  /** `auto` finds out, as the specification says. */
  readonly era?: Era | "auto" | undefined;
  /** Who dials, and what it can be asked. */
  readonly client?: { readonly info?: JsonObject; readonly capabilities?: JsonObject } | undefined;
  /** How callers share the connection; `sharedByAll` unless given. */
  readonly fanIn?: FanIn | undefined;
  /** Milliseconds of silence after which a probed peer counts as legacy. */
  readonly probeMs?: number | undefined;
  /** Milliseconds until a peer that does not answer is given up; 60,000 unless said otherwise. */
  readonly handshakeMs?: number | undefined;
  /** Milliseconds that a call waits for a lost connection to come back, where it does; 5,000 unless given. */
  readonly reconnectMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A line that a child wrote on its stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
}

/** A place where calls come in. */
export interface Listener extends AsyncDisposable {
  /** As dialed: with the port that was chosen. */
  readonly address: string;
  /** Resolves when it has ended by itself or by close(). */
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
  /** Every call that is still open fails, and what dialing started is stopped. */
  close(): Promise<void>;
}

/** A wire is an edge: `listen` turns connections into calls on a service, `dial` gives a service that speaks to a peer. */
export interface Wire {
  readonly name: string;
  /** Whether an address is this wire's. */
  accepts(address: Address): boolean;
  listen(service: Service, address: Address, options: ListenOptions): Promise<Listener>;
  dial(address: Address, options: DialOptions): Promise<Connection>;
}
