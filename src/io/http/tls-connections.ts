import { connect as connectHttp2 } from "node:http2";
import { isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type Cancel, Fault, fixedTimeouts } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { offeredHttp } from "../deno.js";
import { secureContext, type TlsDialOptions } from "../tls.js";
import { SecureAgent } from "./secure-agent.js";
import { requestFault } from "./sent.js";
import { cutOff, type SharedConnection, sharedConnection } from "./shared-connection.js";
import { deadPeer } from "./silence.js";

/** The TLS connections to servers. */
export interface TlsConnections {
  /**
   * Uses an HTTP/2 connection with room for a request, or an agent for HTTP/1.1 if the server has nothing newer. `send` is called at once,
   * so that no other request takes the room.
   */
  use<T>(url: URL, cancel: Cancel | undefined, send: (connection: SharedConnection | SecureAgent) => Promise<T>): Promise<T>;
  close(): void;
}

interface Origin {
  readonly shared: Set<SharedConnection>;
  /** Set for a server that does not offer HTTP/2. */
  agent?: SecureAgent;
  connecting?: Promise<void> | undefined;
}

export interface TlsConnectionsOptions {
  readonly tls: TlsDialOptions | undefined;
  readonly pingMs: number;
  /** Milliseconds for a connection and its handshake. */
  readonly deadMs: number;
}

export function tlsConnections({ tls, pingMs, deadMs }: TlsConnectionsOptions): TlsConnections {
  const context = secureContext(tls);
  const origins = new Map<string, Origin>();
  const handshakes = new Set<TLSSocket>();
  let closed = false;

  const connect = async (origin: Origin, url: URL): Promise<void> => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const socket = connectTls({
      host,
      port: Number(url.port || 443),
      // SNI allows no IP address. The certificate is still checked against it.
      ...(isIP(host) === 0 ? { servername: host } : undefined),
      ...context,
      ALPNProtocols: [...offeredHttp],
    });
    handshakes.add(socket);
    socket.setKeepAlive(true, fixedTimeouts.tcpKeepAliveMs);
    const silent = (): void => void socket.destroy(deadPeer(deadMs));
    if (Number.isFinite(deadMs)) socket.setTimeout(timerMs(deadMs), silent);
    try {
      await secured(socket, url);
      // The settings of the server belong to the handshake, too.
      if (socket.alpnProtocol === "h2") await join(origin, url, socket);
      else if (closed) socket.destroy();
      else origin.agent = new SecureAgent(context, socket);
    } finally {
      socket.setTimeout(0, silent);
      handshakes.delete(socket);
    }
  };
  const join = async (origin: Origin, url: URL, socket: TLSSocket): Promise<void> => {
    const session = connectHttp2(url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW },
      maxSessionMemory: MEMORY_MB,
    });
    let made: SharedConnection | undefined;
    const over = (): void => {
      if (made !== undefined) origin.shared.delete(made);
    };
    made = await sharedConnection(session, url, { socket, pingMs, over });
    if (closed) made.close();
    else if (made.room) origin.shared.add(made);
  };

  return {
    async use(url, cancel, send) {
      for (;;) {
        if (closed) throw new Fault("unavailable", "the client was closed", { data: { reason: "closed" } });
        if (cancel?.fired === true) throw new Fault("cancelled", "the request was given up");
        const origin = origins.get(url.origin) ?? { shared: new Set() };
        origins.set(url.origin, origin);
        if (origin.agent !== undefined) return send(origin.agent);
        for (const each of origin.shared) if (each.room) return send(each);
        // One handshake at a time: other requests may find room on its connection.
        origin.connecting ??= connect(origin, url).finally(() => {
          origin.connecting = undefined;
        });
        await orGivenUp(origin.connecting, cancel);
      }
    },
    close() {
      closed = true;
      for (const socket of handshakes) socket.destroy();
      for (const origin of origins.values()) {
        for (const each of origin.shared) each.close();
        origin.agent?.destroy();
      }
    },
  };
}

/** Bytes of one answer that may arrive before they are read. */
const WINDOW = 256 * 1024;
/** MB that Node may hold for one connection, including requests that are being sent. */
const MEMORY_MB = 256;

function secured(socket: TLSSocket, url: URL): Promise<void> {
  // A socket that is cut before its first request must not throw.
  socket.on("error", () => {});
  return new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", (error: NodeJS.ErrnoException) => reject(requestFault(error, url.origin)));
    socket.once("close", () => reject(requestFault(cutOff(), url.origin)));
  });
}

/** Waits for a promise that others wait for too. The cancel only ends this wait. */
async function orGivenUp(promise: Promise<void>, cancel: Cancel | undefined): Promise<void> {
  if (cancel === undefined) return promise;
  let unhook = (): void => {};
  const givenUp = new Promise<never>((_resolve, reject) => {
    unhook = cancel.on(() => reject(new Fault("cancelled", "the request was given up")));
  });
  try {
    await Promise.race([promise, givenUp]);
  } finally {
    unhook();
  }
}
