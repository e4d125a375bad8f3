import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { defaultLimits, defaultTimeouts, Fault, fixedTimeouts, fromSignal, statusMeaning, toFault } from "../../core/index.js";
import { authorized, badAddress, type HttpClient, type HttpSendOptions, type Sent, secureContext, whyUnreached } from "../../io/index.js";
import type { WebSocketDialOptions } from "./options.js";

export interface Opened {
  readonly socket: WebSocket;
  /** What it is carried on; Bun does not tell. */
  readonly below: Duplex | undefined;
}

const OPENED = 101;

/** Opens a socket: asked for by a request of HTTP, which may be refused and made again with better credentials. */
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

/** A socket, or the answer of a server that opens none. */
function request(address: string, options: WebSocketDialOptions, { headers, cancel }: HttpSendOptions): Promise<Opened | IncomingMessage> {
  // Known to ws; its declared types lag behind.
  const closeTimeout: object = { closeTimeout: fixedTimeouts.lingerMs };
  const handshakeMs = options.handshakeMs ?? defaultTimeouts.handshakeMs;
  const socket = new WebSocket(address, ["mcp"], {
    maxPayload: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    perMessageDeflate: false,
    handshakeTimeout: handshakeMs,
    headers: { ...headers },
    ...secureContext(options.tls),
    ...closeTimeout,
  });
  // From now on the link hears of its errors; one with no listener would be thrown.
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
      // ws tells of its timeout by these words alone.
      if (cause.message === "Opening handshake has timed out")
        return reject(new Fault("deadline", `the server opened no socket within ${handshakeMs} ms`, { cause }));
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

/** An answer of which only the head is of use. */
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
