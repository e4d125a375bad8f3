import { Fault } from "./fault.js";

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What bounds the memory, and some times: the option `limits` of a listener or connection. This file has every limit and its default, under
 * the name that appears as `data.limit` of a fault. docs/limits.md lists them.
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
  /** Bytes that wait for one call's reader, from a peer that cannot be slowed down. */
  readonly callBytes: number;
  /** Bytes that wait to be written before new calls are refused, or, on the listening side, not read. */
  readonly backlogBytes: number;
  /** Calls of one peer at the same time. */
  readonly inFlight: number;
  /** Calls of one principal at the same time, over all its links. Callers without a principal count by remote address. */
  readonly inFlightPerPrincipal: number;
  /** Calls of all callers of the process at the same time, including those of other listeners. */
  readonly inFlightPerProcess: number;
  /** Lists that a listener keeps between two pages. The same number of calls may wait for the answers to their questions. */
  readonly parked: number;
  /** How many of these one principal may have. Callers without a principal count by remote address. */
  readonly parkedPerPrincipal: number;
  /** How many of these one caller may have: a stream, a session, a client of a relay. */
  readonly parkedPerCaller: number;
  /** Milliseconds that a list is kept until the client asks for its next page. */
  readonly parkedMs: number;
  /** Milliseconds that a call waits for the answers to its questions. People may have to give them. */
  readonly answerMs: number;
  /** Bytes that are held in total for all connections of the process, including those of other listeners. */
  readonly processBytes: number;
  /** Bytes that are held in total for one principal, over all its connections. Callers without a principal count by remote address. */
  readonly principalBytes: number;
  /** Bytes that are held in total for one connection. At a client, the questions of its server that wait for answers. In a page, the messages of a WebSocket that wait to be read. */
  readonly connectionBytes: number;
  /** Bytes in addition to those, for small calls while the other shares are full. */
  readonly reserveBytes: number;
  /** Milliseconds for a message to arrive whole. */
  readonly messageMs: number;
  /** Milliseconds that a client may leave waiting data unread before its connection is closed. */
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

/** The limits of each object that was given: some wires ask for every request. */
const known = new WeakMap<Partial<Limits>, Limits>();

/**
 * The limits that apply where some are given. One that is undefined keeps its default. Throws a Fault `invalid-params` for a name that is
 * none, or a value that is no number: everything would be within it.
 */
export function limitsOf(given: Partial<Limits> | undefined): Limits {
  if (given === undefined) return defaultLimits;
  let limits = known.get(given);
  if (limits === undefined) known.set(given, (limits = checked(given)));
  return limits;
}

function checked(given: Partial<Limits>): Limits {
  const limits: { -readonly [name in keyof Limits]: number } = { ...defaultLimits };
  for (const [name, value] of Object.entries(given)) {
    if (!isLimit(name)) throw new Fault("invalid-params", `there is no limit ${JSON.stringify(name)}; docs/limits.md lists them`);
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value >= 0))
      throw new Fault(
        "invalid-params",
        `limits.${name} has to be a number of at least 0, not ${typeof value === "string" ? JSON.stringify(value) : String(value)}`,
      );
    limits[name] = value;
  }
  return limits;
}

function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(defaultLimits, name);
}

/** Limits that are separate options: of a client, a listener, a bridge or `sdkService`. */
export const optionLimits = {
  /** Times that a server may ask for input before one result. */
  maxRounds: 16,
  /** Bytes of one collected list or whole read: 64 MiB. */
  collectBytes: 67_108_864,
  /** Sessions of a listener. */
  maxSessions: 100_000,
  /** Sessions of a bridge with the server behind it, where they are not processes. */
  maxUpstreams: 4096,
  /** Servers of `sdkService`. */
  sessions: 4096,
  /** Events of one stream that are kept for a client that reconnects: `items` of `memoryEvents`. */
  events: 10_000,
} as const;

/**
 * The part of a limit that one principal, or remote address, may use. Its own limit adds `PerPrincipal`, as in `maxSessionsPerPrincipal`.
 */
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
  /** Values of one message. An empty array or object takes three characters, but about twenty times as many bytes of memory. */
  messageValues: 1_000_000,
  /** Numbers of one message that are kept as text: each takes far more memory than its text has characters. */
  exactNumbers: 10_000,
  /** Empty pages in a row after which a list counts as endless. */
  emptyPages: 1000,
  /** Lines that are no message, of a peer that goes on to send them faster than a thousand a second. */
  badMessages: 50_000,
  /** gRPC calls of one connection that nobody reads: each may hold as much as its window. */
  unreadCalls: 64,
  /** API keys that wait to be checked by a slow hash, at the same time. */
  apiKeys: 16,
  /** Milliseconds for the body of an HTTP request; `bodyMsOf(headersMs)` where that is given. */
  bodyMs: 60_000,
} as const;

/** The fixed limits of `anywire/schema`. */
export const schemaLimits = {
  /** Descriptor sets that a schema registry serves from one folder. */
  descriptorSets: 10_000,
  /** Bytes of one descriptor set, as received and as kept: 64 MiB. */
  descriptorBytes: 67_108_864,
  /** Files of one descriptor set. */
  descriptorFiles: 10_000,
  /** Fields of one descriptor set, and eight for each of its messages: 20,000 fields with all that a compiler says about their source. */
  descriptorWeight: 3_000_000,
  /** Messages within messages of one descriptor set, which every reader of protobuf takes. */
  descriptorDepth: 100,
  /** Bytes of an answer of a schema registry that has no descriptors: an error, or a commit. */
  registryAnswerBytes: 65_536,
  /** Values of a JSON Schema. Real ones stay far below these: the largest of 1,174 tools has 1,500 values and 12 levels. */
  schemaValues: 50_000,
  /** Levels of a JSON Schema, and references that lead from one to the next. */
  schemaDepth: 128,
  /** Characters of all strings and names of a JSON Schema. */
  schemaChars: 2_000_000,
  /** Schemas that are visited while one is converted: references and allOf can make many out of few. */
  schemaSteps: 50_000,
  /** Fields of a JSON Schema that is built from a message. Messages within messages make many out of few. */
  builtFields: 20_000,
  /** Levels of such a schema. */
  builtDepth: 64,
  /** Levels of messages that a value may have. */
  valueDepth: 100,
} as const;

/** Bytes of the head of an answer that a client reads, by version of HTTP. No option changes them. A fault names them `headerBytes`. */
export const answerHeaderBytes: { readonly http1: number; readonly http2: number } = { http1: 16 * KIB, http2: 64 * KIB };

/** Rate limits of the layer `limitRate`: `perClient` and `perTool`. */
export const rateLimits = ["clientRate", "toolRate"] as const;

/** Time-outs that a fault of a server that is dialed names. Their defaults are in timeouts.ts. */
export const dialLimits = ["handshakeMs"] as const;

/** The values that `data.limit` of a fault may have. */
export type LimitName =
  | (typeof rateLimits)[number]
  | (typeof dialLimits)[number]
  | keyof Limits
  | keyof typeof optionLimits
  | keyof typeof fixedLimits
  | keyof typeof schemaLimits
  | `${SharedLimit}PerPrincipal`;
