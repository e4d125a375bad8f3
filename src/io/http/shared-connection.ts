import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { Fault } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { signsOfLife } from "../socket/signs-of-life.js";
import type { HttpSendOptions } from "./request.js";
import { requestFault, type Sent, sent } from "./sent.js";
import { deadPeer } from "./silence.js";

/** One HTTP/2 connection that many requests share. */
export interface SharedConnection {
  /** Whether the server accepts another request on it. */
  readonly room: boolean;
  send(method: string, url: URL, options: HttpSendOptions): Promise<Sent>;
  close(): void;
}

export interface SharedConnectionOptions {
  /** The socket of the session. */
  readonly socket: Socket;
  /** Milliseconds between pings while requests are open. If the server shows no sign of life in between, the connection is lost. */
  readonly pingMs: number;
  /** Called when it accepts no more requests. */
  over(): void;
}

/** After this many pings without a request the connection is closed: by then something on the way may have forgotten it. */
const IDLE_PINGS = 4;

/** Waits until the server has sent its settings, then returns the session for sharing. */
export async function sharedConnection(
  session: ClientHttp2Session,
  url: URL,
  { socket, pingMs, over }: SharedConnectionOptions,
): Promise<SharedConnection> {
  let open = 0;
  let closing = false;
  let quiet = 0;
  let waiting = false;
  const leave = (): void => {
    closing = true;
    over();
  };
  session.once("goaway", leave);
  session.once("close", leave);
  await greeted(session, socket, url);
  session.unref();
  const alive = signsOfLife(() => socket);
  const timer = setInterval(() => {
    const moves = alive();
    if (open === 0) return ++quiet < IDLE_PINGS ? undefined : session.close();
    // Large messages may be under way before the ping or its answer.
    if (waiting) return moves ? undefined : session.destroy(deadPeer(pingMs));
    waiting = true;
    session.ping(() => {
      waiting = false;
    });
  }, timerMs(pingMs));
  timer.unref();
  session.once("close", () => clearInterval(timer));
  if (session.destroyed) clearInterval(timer);

  const stream = (method: string, at: URL, { headers, body }: HttpSendOptions): ClientHttp2Stream => {
    const made = session.request(
      {
        ":method": method,
        ":path": `${at.pathname}${at.search}`,
        ":authority": at.host,
        ...endToEnd(headers),
        ...(body === undefined ? undefined : { "content-length": Buffer.byteLength(body) }),
      },
      { endStream: body === undefined },
    );
    quiet = 0;
    if (open++ === 0) session.ref();
    made.once("close", () => {
      if (--open === 0) session.unref();
    });
    return made;
  };
  return {
    get room() {
      return !closing && !session.closed && !session.destroyed && open < Math.max(1, session.remoteSettings.maxConcurrentStreams ?? 1);
    },
    send: (method, at, options) => answered(stream(method, at, options), at, options),
    close: () => session.destroy(),
  };
}

function greeted(session: ClientHttp2Session, socket: Socket, url: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once("remoteSettings", () => resolve());
    session.on("error", (error: NodeJS.ErrnoException) => reject(requestFault(error, url.origin)));
    session.once("close", () => reject(requestFault(cutOff(), url.origin)));
    // If a server rejects a client's certificate, its message arrives after the client's handshake, and the session does not report it.
    const gone = (error?: NodeJS.ErrnoException): void => {
      reject(requestFault(error ?? cutOff(), url.origin));
      socket.destroy();
      session.destroy();
    };
    if (socket.destroyed) gone();
    socket.once("error", gone);
    socket.once("close", () => gone());
  });
}

/** Sends the body and waits for the headers of the answer. */
function answered(stream: ClientHttp2Stream, url: URL, { body, cancel, onSent }: HttpSendOptions): Promise<Sent> {
  return new Promise((resolve, reject) => {
    let answering = false;
    stream.once("response", (headers: IncomingHttpHeaders & { ":status"?: number }) => {
      answering = true;
      resolve(sent(headers[":status"] ?? 0, headers, stream, () => stream.rstCode !== constants.NGHTTP2_NO_ERROR));
    });
    stream.on("error", (error: NodeJS.ErrnoException) =>
      reject(stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? refused(error, url) : requestFault(error, url.origin)),
    );
    const unhook = cancel?.on(() => stream.close(constants.NGHTTP2_CANCEL));
    stream.once("close", () => {
      unhook?.();
      // Creating an error is slow, and most streams close after their answer.
      if (!answering) reject(requestFault(cutOff(), url.origin));
    });
    if (cancel?.fired !== true && body !== undefined) stream.end(body, onSent);
  });
}

export function cutOff(): NodeJS.ErrnoException {
  return Object.assign(new Error("the connection was cut"), { code: "ECONNRESET" });
}

/** The server says that it has not processed the request. */
export const REFUSED = "refused-stream";

function refused(error: Error, url: URL): Fault {
  return new Fault("unavailable", `${url.origin} took no more requests on a connection`, { cause: error, data: { reason: REFUSED } });
}

const ofOneConnection: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Without the headers that HTTP/2 expresses in another way, or does not have. */
function endToEnd(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneConnection.has(name.toLowerCase())));
}
