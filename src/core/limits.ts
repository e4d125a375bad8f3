const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What bounds the memory, and some times: the option `limits` of a listener or connection. This file has every limit and its default,
 * each under the name that `data.limit` of a fault says. docs/limits.md lists them.
 */
export interface Limits {
  /** Bytes of one message. */
  readonly messageBytes: number;
  /** Nesting of one message. */
  readonly depth: number;
  /** Bytes of the headers of one request. */
  readonly headerBytes: number;
  /** Characters of the id of a request, and of its progress token. */
  readonly idChars: number;
  /** Characters of a URI that a session subscribes to. */
  readonly uriChars: number;
  /** Bytes of what a client says of itself when it begins a session: its info and capabilities. */
  readonly clientBytes: number;
  /** Bytes that wait for one call's reader, from a peer that cannot be slowed. */
  readonly callBytes: number;
  /** Bytes that wait to be written before new calls are refused, or, where calls come in, not taken. */
  readonly backlogBytes: number;
  /** Calls of one peer at a time. */
  readonly inFlight: number;
  /** Calls at a time of one principal, on however many links; of callers without one, of one remote address. */
  readonly inFlightPerPrincipal: number;
  /** Calls at a time of all callers of the process, those of other listeners among them. */
  readonly inFlightPerProcess: number;
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
  /** Bytes that are held in total for one principal, on however many connections; of callers without one, for one remote address. */
  readonly principalBytes: number;
  /** Bytes that are held in total for one connection. */
  readonly connectionBytes: number;
  /** Bytes beside those, for small calls while the others are used up. */
  readonly reserveBytes: number;
  /** Milliseconds for a message to arrive whole. */
  readonly messageMs: number;
  /** Milliseconds that a client may take none of what waits for it before its connection is closed. */
  readonly stalledMs: number;
}

export const defaultLimits: Limits = {
  messageBytes: 64 * MIB,
  depth: 256,
  headerBytes: 16 * KIB,
  idChars: 1024,
  uriChars: 8 * KIB,
  clientBytes: 64 * KIB,
  callBytes: MIB,
  backlogBytes: 8 * MIB,
  inFlight: 4096,
  inFlightPerPrincipal: 8192,
  inFlightPerProcess: 32_768,
  parked: 4096,
  parkedPerPrincipal: 1024,
  parkedPerCaller: 256,
  parkedMs: 60_000,
  answerMs: 10 * 60_000,
  processBytes: 256 * MIB,
  principalBytes: 64 * MIB,
  connectionBytes: 64 * MIB,
  reserveBytes: 16 * MIB,
  messageMs: 60_000,
  stalledMs: 60_000,
};

/** Limits that are options of their own: of a client, a listener, a bridge or `sdkService`. */
export const optionLimits = {
  /** Times that a server may ask for input before one result. */
  maxRounds: 16,
  /** Bytes of one collected list or whole read: 64 MiB. */
  collectBytes: 67_108_864,
  /** Sessions of a listener. */
  maxSessions: 100_000,
  /** Sessions of a bridge with the server behind it, where they are no processes. */
  maxUpstreams: 4096,
  /** Servers of `sdkService`. */
  sessions: 4096,
  /** Events that are kept of one stream for a client that comes back to it: `items` of `memoryEvents`. */
  events: 10_000,
} as const;

/** The share that one principal, or remote address, may have of a limit. The limit is called after it, as `maxSessionsPerPrincipal`. */
export const principalShares = { maxSessions: 0.25, maxUpstreams: 0.5, sessions: 0.25 } as const;
export type SharedLimit = keyof typeof principalShares;

/** Limits that no option changes. */
export const fixedLimits = {
  /** Messages of one batch. */
  batch: 1024,
  /** Messages that wait until a legacy session is open. */
  opening: 64,
  /** Questions of a server that are open in one call. */
  asks: 256,
  /** Values of one message. An empty array or object takes three characters, and about twenty times as many bytes of memory. */
  messageValues: 1_000_000,
  /** Numbers of one message that are kept as text: each takes far more memory than its text has characters. */
  exactNumbers: 10_000,
  /** Pages without items, one after the other, after which a list counts as endless. */
  emptyPages: 1000,
  /** Lines that are no message, of a peer that goes on to send them faster than a thousand a second. */
  badMessages: 50_000,
  /** gRPC calls of one connection that nobody reads: each may hold as much as its window. */
  unreadCalls: 64,
  /** API keys that wait to be checked by a slow hash. */
  apiKeys: 16,
  /** Milliseconds for the body of an HTTP request; four times `headersMs` where that is given. */
  bodyMs: 60_000,
} as const;

/** Rates that a layer keeps, if it was given them: `perClient` and `perTool` of `limitRate`. */
export const rateLimits = ["clientRate", "toolRate"] as const;

/** What `data.limit` of a fault may say. */
export type LimitName =
  | (typeof rateLimits)[number]
  | keyof Limits
  | keyof typeof optionLimits
  | keyof typeof fixedLimits
  | `${SharedLimit}PerPrincipal`;
