import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import {
  defaultLimits,
  defaultTimeouts,
  Fault,
  fixedTimeouts,
  fromSignal,
  lateHandshake,
  statusMeaning,
  toFault,
} from "../../core/index.js";
import { authorized, badAddress, type HttpClient, type HttpSendOptions, type Sent, secureContext, whyUnreached } from "../../io/index.js";
import { timerMs } from "../../stream/index.js";
import type { WebSocketDialOptions } from "./options.js";

export interface Opened {
  readonly socket: WebSocket;
  /** What it is carried on; Bun does not tell. */
  readonly below: Duplex | undefined;
}

const OPENED = 101;

/** Opens a socket with an HTTP request, which may be refused and repeated with better credentials. */
export async function openSocket(address: string, options: WebSocketDialOptions): Promise<Opened> {
  let open: Opened | undefined;
  const client: HttpClient = {
    async send(_method, _url, sending) {
      const answer = await request(address, options, sending);
      if (!("below" in answer)) return sentOf(answer.statusCode ?? 0, answer.headers);
      open = answer;
      return sentOf(OPENED, {});
    },
    close() {},
  };
  const { auth, signal, headers } = options;
  const sender = auth === undefined ? client : authorized(client, auth);
  if (!URL.canParse(address)) throw badAddress(`not a URL: ${address}`);
  const asked = new URL(address.replace(/^ws/, "http"));
  const given = signal === undefined ? undefined : fromSignal(signal);
  const { status } = await sender
    .send("GET", asked, { headers: { ...headers }, ...(given === undefined ? undefined : { cancel: given.cancel }) })
    .catch((error) => {
      throw signal?.aborted === true ? givenUp(signal.reason) : toFault(error);
    })
    .finally(() => given?.release());
  if (open !== undefined) return open;
  throw new Fault(statusMeaning(status), `the server answered HTTP ${status}`, { data: { status } });
}

/** The socket, or the server's answer if it does not open one. */
function request(
  address: string,
  options: WebSocketDialOptions,
  sending: HttpSendOptions,
  subprotocols: readonly string[] = ["mcp"],
): Promise<Opened | IncomingMessage> {
  const { headers, cancel } = sending;
  // ws supports this option; its types do not have it yet.
  const closeTimeout: object = { closeTimeout: fixedTimeouts.lingerMs };
  const handshakeMs = options.handshakeMs ?? defaultTimeouts.handshakeMs;
  const socket = new WebSocket(address, [...subprotocols], {
    maxPayload: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    perMessageDeflate: false,
    handshakeTimeout: timerMs(handshakeMs),
    headers: { ...headers },
    ...secureContext(options.tls),
    ...closeTimeout,
  });
  // From now on the link handles errors. Without any listener, an error would be thrown.
  socket.on("error", () => {});
  let unhook: (() => void) | undefined;
  return new Promise<Opened | IncomingMessage>((resolve, reject) => {
    // It opens right after.
    socket.once("upgrade", ({ socket: below }) => socket.once("open", () => resolve({ socket, below: below ?? undefined })));
    socket.once("unexpected-response", (_request, response) => {
      resolve(response);
      socket.terminate();
    });
    socket.once("error", (cause) => {
      // Many servers know none, but ws does not take a server that ignores what it was offered.
      if (cause.message === "Server sent no subprotocol") return resolve(request(address, options, sending, []));
      // ws reports its timeout only by this message, too.
      if (cause.message === "Opening handshake has timed out")
        return reject(lateHandshake(handshakeMs, "the server opened no socket", cause));
      reject(new Fault("unavailable", `cannot reach ${new URL(address).origin}: ${whyUnreached(cause)}`, { cause }));
    });
    unhook = cancel?.on(() => {
      reject(givenUp(cancel.reason));
      socket.terminate();
    });
  }).finally(() => unhook?.());
}

function givenUp(cause: unknown): Fault {
  return new Fault("cancelled", "dialing was given up", { cause });
}

/** An answer of which only the headers matter. */
function sentOf(status: number, headers: IncomingMessage["headers"]): Sent {
  return {
    status,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: (async function* () {})(),
    text: async () => "",
    beat() {},
  };
}
