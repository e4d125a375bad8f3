import { WebSocket } from "ws";
import { type Address, type Connection, type DialOptions, defaultLimits, Fault, type Wire } from "../../core/index.js";
import { dialLink } from "../../era/index.js";
import { secureContext, type TlsDialOptions } from "../../io/index.js";
import { keepAlive, PING_MS } from "./keep-alive.js";
import { type Socket, socketLink } from "./link.js";
import { listen } from "./listen.js";

export interface WebSocketDialOptions extends DialOptions {
  /** Sent with the request that opens the socket. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly tls?: TlsDialOptions | undefined;
  readonly pingMs?: number | undefined;
}

/** JSON-RPC text frames, subprotocol `mcp` or none. */
export const websocket: Wire = {
  name: "websocket",
  accepts: (address) => typeof address === "string" && /^wss?:\/\//.test(address),
  listen,
  dial,
};

async function dial(address: Address, options: WebSocketDialOptions): Promise<Connection> {
  const url = String(address);
  // Known to ws; its declared types lag behind.
  const closeTimeout: object = { closeTimeout: 1_000 };
  const socket = new WebSocket(url, ["mcp"], {
    maxPayload: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    perMessageDeflate: false,
    handshakeTimeout: options.handshakeMs ?? 60_000,
    headers: { ...options.headers },
    ...secureContext(options.tls),
    ...closeTimeout,
  });
  // From now on the link hears of its errors; one with no listener would be thrown.
  socket.on("error", () => {});
  await opened(socket, url, options.signal);
  const stop = keepAlive(socket, options.pingMs ?? PING_MS);
  socket.once("close", stop);
  return dialLink(socketLink(socket as unknown as Socket, options.limits), options);
}

async function opened(socket: WebSocket, url: string, signal: AbortSignal | undefined): Promise<void> {
  let abort = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => {
        reject(new Fault("cancelled", "dialing was given up", { cause: signal?.reason }));
        socket.terminate();
      };
      socket.once("open", resolve);
      socket.once("unexpected-response", (_request, response) => {
        const code = response.statusCode === 401 ? "unauthenticated" : response.statusCode === 403 ? "denied" : "unavailable";
        reject(new Fault(code, `the server answered HTTP ${response.statusCode}`, { data: { status: response.statusCode } }));
        socket.terminate();
      });
      socket.once("error", (error) =>
        reject(new Fault("unavailable", `cannot reach ${new URL(url).origin}: ${error.message}`, { cause: error })),
      );
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted === true) abort();
    });
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
