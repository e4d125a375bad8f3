/** Times that are options, in milliseconds, each under the name of its option. docs/limits.md lists them. */
export const defaultTimeouts = {
  /** Until a server that does not finish the handshake is given up. Long enough for a command that first has to be downloaded. */
  handshakeMs: 60_000,
  /** Of silence after which a probed server counts as legacy. */
  probeMs: 10_000,
  /** That a call waits for a lost connection to come back. */
  reconnectMs: 5_000,
  /** For a connection of gRPC to open. */
  connectMs: 20_000,
  /** Without a byte after which an HTTP server is asked whether it is there; three times what servers leave between two comments. */
  deadMs: 45_000,
  /** For a person to sign in. */
  patienceMs: 300_000,
  /** That a child process has after each of: its stdin closed, TERM. */
  graceMs: 2_000,
  /** That calls in flight have to finish when a listener closes. */
  drainMs: 5_000,
  /** For the first bytes of a connection, and for the head of a request; four times that for the whole request. */
  headersMs: 15_000,
  /** Between two signs of life on a quiet stream of events, or on a connection of HTTP/2 that is in use. */
  keepAliveMs: 15_000,
  /** Between two pings on a WebSocket or a gRPC connection, and of silence after which a legacy client is pinged. */
  pingMs: 30_000,
  /** For the answer to a PING of gRPC. */
  timeoutMs: 10_000,
  /** That a legacy call waits for its client to come back to its stream. */
  awayMs: 30_000,
  /** After which a session that nothing is open for ends: half an hour. */
  idleMs: 1_800_000,
  /** After which a session whose client had a stream open and closed it ends, if there is no call since. */
  leftMs: 300_000,
  /** Between two checks of the credentials of an open stream. */
  recheckMs: 60_000,
  /** The option `idleMs` of `sdkService`: after which a server that nobody calls is let go of. */
  sdkIdleMs: 60_000,
  /** The option `recheckMs` of `apiKeys`: after which the file of keys is looked at again. */
  keyFileMs: 1_000,
  /** After which a client of a bridge that is gone without a word loses its session. */
  clientIdleMs: 300_000,
  /** The same for a client of a bridge whose stream was open and is closed. */
  clientLeftMs: 120_000,
  /** That a caller of a bridge waits for a session with the server. */
  waitMs: 30_000,
} as const;

/** Times that no option changes and more than one file uses, in milliseconds. Those of one algorithm stand beside it. */
export const fixedTimeouts = {
  /** For the last answers to leave when a link, a server or a connection closes. */
  lastAnswersMs: 250,
  /** That calls in flight have after the client closed its side. */
  halfClosedMs: 250,
  /** For a peer to close its side of a connection, before it is destroyed. */
  lingerMs: 1_000,
  /** After which a connection, session or stream counts as a good one: the next pause begins small again. */
  lastedMs: 1_000,
  /** Of silence on a TCP connection after which the system asks whether its peer is there. */
  tcpKeepAliveMs: 15_000,
  /** That a connection of HTTP is kept without a request. */
  idleConnectionMs: 60_000,
  /** That an idle session or an open question is spared when its owner needs the place. */
  spareMs: 60_000,
  /** That a question of a legacy server waits for a client to listen. */
  questionMs: 30_000,
  /** That a caller with a principal and without a session is remembered after its last call. */
  callerIdleMs: 300_000,
} as const;
