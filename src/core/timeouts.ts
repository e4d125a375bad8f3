/** Times that are options, in milliseconds, each under the name of its option. docs/limits.md lists them. */
export const defaultTimeouts = {
  /** Until a server that does not finish the handshake is given up. Long enough for a command that has to be downloaded first. */
  handshakeMs: 60_000,
  /** Silence after which a probed server counts as legacy. */
  probeMs: 10_000,
  /** The option `probeMs` as the command sets it: a person waits. */
  commandProbeMs: 5_000,
  /** How long a call waits for a lost connection to come back. */
  reconnectMs: 5_000,
  /** For a gRPC connection to open. */
  connectMs: 20_000,
  /** Silence after which a client checks whether an HTTP server is still there: three times the usual interval of keep-alive comments. */
  deadMs: 45_000,
  /** For a person to sign in. */
  patienceMs: 300_000,
  /** How long a child process has after its stdin is closed, and again after SIGTERM. */
  graceMs: 2_000,
  /** How long calls in flight have to finish when a listener closes. */
  drainMs: 5_000,
  /** For the first bytes of a connection, and for the head of a request. The whole request has four times as long. */
  headersMs: 15_000,
  /** Between two keep-alives on a quiet event stream, or on an HTTP/2 connection that is in use. */
  keepAliveMs: 15_000,
  /** Between two pings on a WebSocket or a gRPC connection. Also the silence after which a legacy client is pinged. */
  pingMs: 30_000,
  /** For the answer to a gRPC PING. */
  timeoutMs: 10_000,
  /** How long a legacy call waits for its client to come back to its stream. */
  awayMs: 30_000,
  /** After which a session with nothing open ends: half an hour. */
  idleMs: 1_800_000,
  /** After which a session ends whose client had a stream open and closed it, if no call has come since. */
  leftMs: 300_000,
  /** Between two checks of the credentials of an open stream. */
  recheckMs: 60_000,
  /** The option `idleMs` of `sdkService`: after which a server that nobody calls is closed. */
  sdkIdleMs: 60_000,
  /** The option `recheckMs` of `apiKeys`: after which the key file is checked again. */
  keyFileMs: 1_000,
  /** The `recheckMs` of credentials from `apiKeys`: a key that was removed from the file soon loses its streams. */
  keyRecheckMs: 5_000,
  /** After which a client of a bridge that has left silently loses its session. */
  clientIdleMs: 300_000,
  /** The same for a client of a bridge that had a stream open and closed it. */
  clientLeftMs: 120_000,
  /** How long a caller of a bridge waits for a session with the server. */
  waitMs: 30_000,
} as const;

/** How long a whole request may take to arrive, where its head may take `headersMs`. */
export function bodyMsOf(headersMs: number): number {
  return 4 * headersMs;
}

/**
 * Times that no option changes and that more than one file uses, or that bound what a peer may take, in milliseconds. A time that belongs to one algorithm stands beside it.
 */
export const fixedTimeouts = {
  /** For the last answers to be sent when a link, a server or a connection closes. */
  lastAnswersMs: 250,
  /** How long calls in flight have after the client closed its side. */
  halfClosedMs: 250,
  /** For the exit of a child process whose pipes have closed: the exit gives the reason. */
  exitMs: 200,
  /** For a peer to close its side of a connection, before it is destroyed. */
  lingerMs: 1_000,
  /** After which a connection, session or stream counts as good, so that the next reconnect starts with a short pause again. */
  lastedMs: 1_000,
  /** How long the answer of a handshake counts as new. After that a server may have been replaced. */
  freshMs: 10_000,
  /** Silence on a TCP connection after which the system checks whether the peer is there. */
  tcpKeepAliveMs: 15_000,
  /** How long an HTTP connection without a request is kept. */
  idleConnectionMs: 60_000,
  /** How long an idle session or an open question is kept when its owner needs the place. */
  spareMs: 60_000,
  /** How long a question of a legacy server waits for a client to listen. */
  questionMs: 30_000,
  /** For a browser to send the request with which a sign-in returns. */
  signInRequestMs: 10_000,
  /** For the page that says that the sign-in is done to reach the browser. */
  signInPageMs: 1_000,
  /** Between two checks for requests that are too slow, unless the time of a head is shorter. */
  slowRequestsMs: 5_000,
  /** How long a caller with a principal and without a session is remembered after its last call. */
  callerIdleMs: 300_000,
} as const;
