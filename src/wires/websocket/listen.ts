import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import {
  type Address,
  accountOf,
  closingFault,
  defaultLimits,
  type Listener,
  type ListenOptions,
  listenerOf,
  refusedStatus,
  requestStatuses,
  type Service,
  toFault,
} from "../../core/index.js";
import { observedAs, ServedLinks } from "../../era/index.js";
import {
  type Admission,
  admit,
  type GateOptions,
  httpHost,
  METADATA_PATH,
  nodeExchange,
  placeOf,
  type SecureListenOptions,
} from "../../io/index.js";
import { boundIncoming } from "./bound-incoming.js";
import { gatherer } from "./gather.js";
import { keepAlive, PING_MS } from "./keep-alive.js";
import { type Socket, socketLink } from "./link.js";

export interface WebSocketListenOptions extends ListenOptions, GateOptions, SecureListenOptions {
  /** Milliseconds between pings; a peer that answers none of two is gone. */
  readonly pingMs?: number | undefined;
  /** Milliseconds for the head of a request; 15,000 unless given. */
  readonly headersMs?: number | undefined;
}

type Admitted = Exclude<Admission, { status: number }>;

/** Milliseconds that a peer has to answer a close. */
const CLOSE_MS = 1_000;

export async function listen(service: Service, address: Address, given: WebSocketListenOptions): Promise<Listener> {
  const options = observedAs(given, "listen", "websocket");
  const place = placeOf(address, "/mcp", options);
  const { path } = place;
  // Known to ws; its declared types lag behind.
  const closeTimeout: object = { closeTimeout: CLOSE_MS };
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    // Nothing is unpacked here, so that nothing small can become large.
    perMessageDeflate: false,
    // Pings are answered as far as their answers are read.
    autoPong: false,
    handleProtocols: (offered) => (offered.has("mcp") ? "mcp" : false),
    ...closeTimeout,
  });
  const links = new ServedLinks(service, options);

  const serve = (open: WebSocket, request: IncomingMessage, { principal, credentials }: Admitted): void => {
    const stop = keepAlive(open, options.pingMs ?? PING_MS);
    const account = accountOf(request.socket, options.limits);
    const link = socketLink(open as unknown as Socket, options.limits, { gather: gatherer(request.socket), account });
    boundIncoming(open, request.socket, account, options.limits);
    const metadata = nodeExchange(request, undefined as never).headers;
    void links.add(link, { metadata, account, principal, remote: request.socket.remoteAddress, credentials }).finally(stop);
  };
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const exchange = nodeExchange(request, undefined as never);
    const admission = await admit(exchange, options, path);
    if ("status" in admission) return refuse(socket, admission.status, admission);
    if (exchange.path !== path) return refuse(socket, requestStatuses["no such path"], admission);
    if (links.closing.fired) return refuse(socket, refusedStatus(closingFault()), admission);
    server.handleUpgrade(request, socket, head, (open) => serve(open, request, admission));
  };
  const host = await httpHost({
    hostname: place.hostname,
    port: place.port,
    tls: options.tls,
    insecure: options.insecure,
    auth: options.auth,
    headersMs: options.headersMs,
    limits: options.limits,
    request: (request, response) => {
      const exchange = nodeExchange(request, response);
      if (exchange.path.startsWith(METADATA_PATH) && options.auth?.metadata !== undefined)
        void admit(exchange, options, path).then((admission) => {
          if ("status" in admission) exchange.reply(admission.status, admission.headers, admission.text);
        });
      else
        exchange.reply(
          requestStatuses["no upgrade to WebSocket"],
          { upgrade: "websocket", "content-type": "text/plain" },
          "this is a WebSocket endpoint\n",
        );
    },
    upgrade: (request, socket, head) =>
      void upgrade(request, socket, head).catch((error) => {
        options.onFault?.(toFault(error));
        socket.destroy();
      }),
  });
  return listenerOf(place.dialed(host.port), async () => {
    await links.drain();
    await host.close();
  });
}

function refuse(socket: Duplex, status: number, { headers }: Admission): void {
  const challenge = headers["www-authenticate"];
  const authenticate = challenge === undefined ? "" : `WWW-Authenticate: ${challenge}\r\n`;
  // A client that does not close its side must not keep the socket.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${authenticate}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}
