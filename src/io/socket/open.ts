import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { DEFAULT_PORT, defaultLimits, defaultTimeouts, Fault, fixedTimeouts, type Limits, lateHandshake } from "../../core/index.js";
import { codeOf, timerMs } from "../../stream/index.js";
import type { Framing } from "../framing.js";
import { type LineLink, lineLink } from "../line-link.js";
import { unixPath } from "../port/place.js";
import { secureContext, type TlsDialOptions } from "../tls.js";
import { badAddress, whyUnreached } from "../unreached.js";
import { endThenDestroy } from "./end-then-destroy.js";

export interface SocketLinkOptions {
  readonly limits?: Partial<Limits> | undefined;
  readonly tls?: TlsDialOptions | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly handshakeMs?: number | undefined;
  /** How messages are framed; as lines of JSON unless given. */
  readonly framing?: Framing | undefined;
}

/**
 * A link on a connection to `tcp://host:port`, `tls://host:port` or `unix:PATH`. Rejects with the reason if connecting fails or takes too
 * long.
 */
export async function openSocketLink(address: string, options: SocketLinkOptions): Promise<LineLink> {
  const { limits, framing } = options;
  const socket = await connected(socketTo(address, options), address, options);
  socket.setKeepAlive(true, fixedTimeouts.tcpKeepAliveMs);
  return lineLink(socket, socket, {
    framing,
    messageBytes: limits?.messageBytes,
    // A message above the server's limit would end the link, with every other call on it.
    sendLength: limits?.messageBytes ?? defaultLimits.messageBytes,
    depth: limits?.depth,
    onClose: () => endThenDestroy(socket),
  });
}

function socketTo(address: string, options: SocketLinkOptions): Socket {
  const path = unixPath(address);
  if (path !== undefined) return connect({ path });
  const [, scheme, authority = ""] = /^(tcp|tls):\/\/([^/?#]+)\/?$/.exec(address) ?? [];
  const [, name, port] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]@\s]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (name === undefined)
    throw badAddress(`not an address of a connection: ${address}; it looks like tcp://host:port, tls://host:port or unix:PATH`);
  const place = { host: name.replace(/^\[|\]$/g, ""), port: Number(port ?? DEFAULT_PORT) };
  if (scheme === "tcp") return connect({ ...place, noDelay: true });
  // SNI allows no IP address. The certificate is still checked against it.
  const socket = connectTls({
    ...place,
    ...(isIP(place.host) === 0 ? { servername: place.host } : undefined),
    ...secureContext(options.tls),
  });
  return socket.setNoDelay(true);
}

function connected(
  socket: Socket,
  address: string,
  { signal, handshakeMs = defaultTimeouts.handshakeMs }: SocketLinkOptions,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (fault: Fault): void => {
      stop();
      socket.destroy();
      reject(fault);
    };
    const onError = (cause: Error): void =>
      fail(
        new Fault("unavailable", `cannot reach ${address}: ${whyUnreached(cause)}`, {
          cause,
          data: { reason: codeOf(cause) ?? "failed" },
        }),
      );
    const giveUp = (): void => fail(new Fault("cancelled", "dialing was given up", { cause: signal?.reason }));
    const timer = setTimeout(() => fail(lateHandshake(handshakeMs, `no connection to ${address}`)), timerMs(handshakeMs));
    const stop = (): void => {
      clearTimeout(timer);
      socket.off("error", onError);
      signal?.removeEventListener("abort", giveUp);
      // From now on the link handles errors. Without any listener, an error would be thrown.
      socket.on("error", () => {});
    };
    socket.once("error", onError);
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted === true) return giveUp();
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      stop();
      resolve(socket);
    });
  });
}
