import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { defaultLimits, defaultTimeouts, Fault, fixedTimeouts } from "../../core/index.js";
import type { Link } from "../../era/index.js";
import { badAddress, DEFAULT_PORT, lineLink, secureContext, unixPath, whyUnreached } from "../../io/index.js";
import { codeOf } from "../../stream/index.js";
import { letGo } from "./let-go.js";
import type { LinesDialOptions } from "./lines.js";

/** Connects; rejects with the reason if that fails or takes too long. */
export async function openLines(address: string, options: LinesDialOptions): Promise<Link> {
  const { limits } = options;
  const socket = await connected(socketTo(address, options), address, options);
  socket.setKeepAlive(true, fixedTimeouts.tcpKeepAliveMs);
  return lineLink(socket, socket, {
    messageBytes: limits?.messageBytes,
    // A server that takes no more would end the link, and every other call with it.
    sendLength: limits?.messageBytes ?? defaultLimits.messageBytes,
    depth: limits?.depth,
    onClose: () => letGo(socket),
  });
}

function socketTo(address: string, options: LinesDialOptions): Socket {
  const path = unixPath(address);
  if (path !== undefined) return connect({ path });
  const [, scheme, authority = ""] = /^(tcp|tls):\/\/([^/?#]+)\/?$/.exec(address) ?? [];
  const [, name, port] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]@\s]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (name === undefined)
    throw badAddress(`not an address of lines: ${address}; it looks like tcp://host:port, tls://host:port or unix:PATH`);
  const place = { host: name.replace(/^\[|\]$/g, ""), port: Number(port ?? DEFAULT_PORT) };
  if (scheme === "tcp") return connect({ ...place, noDelay: true });
  // An address is no name to ask for; the certificate is checked against it all the same.
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
  { signal, handshakeMs = defaultTimeouts.handshakeMs }: LinesDialOptions,
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
    const timer = setTimeout(() => fail(new Fault("deadline", `no connection to ${address} within ${handshakeMs} ms`)), handshakeMs);
    const stop = (): void => {
      clearTimeout(timer);
      socket.off("error", onError);
      signal?.removeEventListener("abort", giveUp);
      // From now on the link hears of errors; one with no listener would be thrown.
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
