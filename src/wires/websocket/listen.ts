import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { MessageCodec } from "../../codec/bufmcpv1/index.js";
import {
  type Address,
  accountOf,
  closingFault,
  defaultLimits,
  defaultTimeouts,
  fixedTimeouts,
  type Listener,
  type ListenOptions,
  MCP_PATH,
  refusedStatus,
  requestStatuses,
  type Service,
  toFault,
} from "../../core/index.js";
import { observedAs, ServedLinks } from "../../era/index.js";
import {
  type Admission,
  admit,
  answersProbes,
  checksTokens,
  type GateOptions,
  METADATA_PATH,
  type Mount,
  nodeExchange,
  placeOf,
  port,
  portListener,
  type SecureListenOptions,
} from "../../io/index.js";
import { boundIncoming } from "./bound-incoming.js";
import { gatherer } from "./gather.js";
import { keepAlive } from "./keep-alive.js";
import { type Socket, socketLink } from "./link.js";

export interface WebSocketListenOptions extends ListenOptions, GateOptions, SecureListenOptions {
  /** Milliseconds between pings. A peer that answers none of two has gone, if nothing else moves. */
  readonly pingMs?: number | undefined;
  /** Milliseconds for the head of a request; 15,000 unless given. */
  readonly headersMs?: number | undefined;
}

type Admitted = Exclude<Admission, { status: number }>;

/** WebSocket on a port, at each of these paths. `proto`: binary frames of proto-mcp. */
export function webSocketMount(
  service: Service,
  given: WebSocketListenOptions,
  paths: readonly string[] = [MCP_PATH],
  proto = false,
): Mount {
  const wire = proto ? "proto-websocket" : "websocket";
  const options = observedAs(given, "listen", wire);
  const [path = MCP_PATH] = paths;
  // ws supports this option; its types do not have it yet.
  const closeTimeout: object = { closeTimeout: fixedTimeouts.lingerMs };
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    // Nothing is decompressed here, so that nothing small can become large.
    perMessageDeflate: false,
    // Pings are answered only as far as their answers are read.
    autoPong: false,
    handleProtocols: (offered) => (offered.has("mcp") ? "mcp" : false),
    ...closeTimeout,
  });
  const links = new ServedLinks(service, options);

  const serve = (open: WebSocket, request: IncomingMessage, remote: string | undefined, { principal, credentials }: Admitted): void => {
    const stop = keepAlive(open, request.socket, options.pingMs ?? defaultTimeouts.pingMs);
    const account = accountOf(request.socket, options.limits, request.socket.remoteAddress);
    const codec = proto ? new MessageCodec({ depth: options.limits?.depth ?? defaultLimits.depth }) : undefined;
    const made = socketLink(open as unknown as Socket, options.limits, { codec, gather: gatherer(request.socket), account, principal });
    const link = proto ? checksTokens(answersProbes(made, codec), { ...options, principal }) : made;
    boundIncoming(open, request.socket, account.hold(principal), options.limits);
    const metadata = nodeExchange(request, undefined as never).headers;
    void links.add(link, { metadata, account, principal, remote, credentials }).finally(stop);
  };
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const exchange = nodeExchange(request, undefined as never);
    const admission = await admit(exchange, options, path);
    if ("status" in admission) return refuse(socket, admission.status, admission);
    if (!paths.includes(exchange.path)) return refuse(socket, requestStatuses["no such path"], admission);
    if (links.closing.fired) return refuse(socket, refusedStatus(closingFault()), admission);
    server.handleUpgrade(request, socket, head, (open) => serve(open, request, exchange.remote, admission));
  };
  return {
    wire,
    addresses: ({ secure, authority, path: socket }) =>
      socket === undefined ? [{ wire, address: `${proto ? "proto+" : ""}ws${secure ? "s" : ""}://${authority}${path}` }] : [],
    claims: (asked) => paths.includes(asked),
    request(request, response) {
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
    connectsWhileDraining: true,
    close: () => links.drain(),
  };
}

export async function listenWebSocket(service: Service, address: Address, options: WebSocketListenOptions): Promise<Listener> {
  const proto = String(address).startsWith("proto+");
  const { carrier, path } = placeOf(address, MCP_PATH, options);
  return portListener(await port(carrier, [webSocketMount(service, options, [path], proto)], options));
}

function refuse(socket: Duplex, status: number, { headers }: Admission): void {
  const challenge = headers["www-authenticate"];
  const authenticate = challenge === undefined ? "" : `WWW-Authenticate: ${challenge}\r\n`;
  // A client that does not close its side must not keep the socket open.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${authenticate}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}
