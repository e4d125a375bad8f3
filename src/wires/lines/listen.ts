import type { Socket } from "node:net";
import { type Address, accountOf, type Listener, type ListenOptions, type Service } from "../../core/index.js";
import { observedAs, ServedLinks } from "../../era/index.js";
import {
  certificateName,
  type GrpcPeer,
  isJsonLines,
  type Mount,
  noCredentials,
  placeOf,
  port,
  portListener,
  type SecureListenOptions,
} from "../../io/index.js";
import { servedLineLink } from "./served-link.js";

export interface LinesListenOptions extends ListenOptions, SecureListenOptions {
  /** The check of credentials, if there is one. Lines carry no credentials, so then only clients with a certificate are let in. */
  readonly auth?: unknown;
  /** Milliseconds for the first byte; 15,000 unless given. */
  readonly headersMs?: number | undefined;
}

/** Lines of JSON-RPC on a port: one connection is one link, of either era. */
export function linesMount(service: Service, given: LinesListenOptions): Mount {
  const options = observedAs(given, "listen", "lines");
  const links = new ServedLinks(service, options);
  const usable = options.auth === undefined || options.tls?.requestClientCert === true;
  const take = (socket: Socket, { address, certificate }: GrpcPeer): void => {
    if (links.closing.fired) return void socket.destroy();
    const account = accountOf(socket, options.limits, address);
    const principal = certificate === undefined ? undefined : certificateName(certificate);
    void links.add(servedLineLink(socket, { account, principal, limits: options.limits }), { account, remote: address, principal });
  };
  return {
    wire: "lines",
    addresses({ secure, authority, path }) {
      if (!usable) return [];
      return [{ wire: "lines", address: path === undefined ? `${secure ? "tls" : "tcp"}://${authority}` : `unix:${path}` }];
    },
    bytes: { detect: isJsonLines, take },
    close: () => links.drain(),
  };
}

export async function listenLines(service: Service, address: Address, options: LinesListenOptions): Promise<Listener> {
  const { carrier } = placeOf(address, "", options);
  if (options.auth !== undefined && options.tls?.requestClientCert !== true) throw noCredentials(String(address).replace(/:.*$/s, ""));
  return portListener(await port(carrier, [linesMount(service, options)], options));
}
