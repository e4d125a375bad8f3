import type { Socket } from "node:net";
import { MessageCodec } from "../../codec/bufmcpv1/index.js";
import {
  type Address,
  accountOf,
  defaultLimits,
  Fault,
  type Listener,
  type ListenOptions,
  listenerOf,
  type Service,
} from "../../core/index.js";
import { observedAs, ServedLinks } from "../../era/index.js";
import {
  answersProbes,
  certificateName,
  firstByte,
  type GrpcPeer,
  type Mount,
  noCredentials,
  placeOf,
  port,
  portListener,
  processLink,
  type SecureListenOptions,
} from "../../io/index.js";
import { either } from "./framing.js";
import { servedLink } from "./served-link.js";

export interface ProtoListenOptions extends ListenOptions, SecureListenOptions {
  /** The check of credentials, if there is one. Connections carry no credentials, so then only clients with a certificate are let in. */
  readonly auth?: unknown;
  /** Milliseconds for the first byte; 15,000 unless given. */
  readonly headersMs?: number | undefined;
}

/** The largest first byte of a length. The next one, 0x09, may begin a line of JSON. */
const LAST = 0x08;

/** proto-mcp on a port: one connection is one link, of either era. */
export function protoMount(service: Service, given: ProtoListenOptions): Mount {
  const options = observedAs(given, "listen", "proto");
  const links = new ServedLinks(service, options);
  const usable = options.auth === undefined || options.tls?.requestClientCert === true;
  const { messageBytes } = { ...defaultLimits, ...options.limits };
  const take = (socket: Socket, { address, certificate }: GrpcPeer): void => {
    if (links.closing.fired) return void socket.destroy();
    const account = accountOf(socket, options.limits, address);
    const principal = certificate === undefined ? undefined : certificateName(certificate);
    void links.add(servedLink(socket, { account, principal, limits: options.limits }), { account, remote: address, principal });
  };
  return {
    wire: "proto",
    addresses({ secure, authority, path }) {
      if (!usable) return [];
      return [{ wire: "proto", address: path === undefined ? `proto+${secure ? "tls" : "tcp"}://${authority}` : `proto+unix:${path}` }];
    },
    bytes: { detect: firstByte([0, Math.min(LAST, messageBytes >>> 24)]), take },
    close: () => links.drain(),
  };
}

export async function listen(service: Service, address: Address, options: ProtoListenOptions): Promise<Listener> {
  if (typeof address !== "string") throw new Fault("invalid-params", "a command can be dialed, not listened on; listen on proto+stdio:");
  if (address.startsWith("proto+stdio:")) return listenOnStreams(service, observedAs(options, "listen", "proto"));
  const { carrier } = placeOf(address, "", options);
  if (options.auth !== undefined && options.tls?.requestClientCert !== true) throw noCredentials(address.split(":", 1)[0] as string);
  return portListener(await port(carrier, [protoMount(service, options)], options));
}

let listening = false;

/** Serves this process's own stdin and stdout, in the protocol that the client begins with. */
async function listenOnStreams(service: Service, options: ListenOptions): Promise<Listener> {
  if (listening) throw new Fault("unavailable", "stdin and stdout are already listened on", { data: { reason: "in-use" } });
  listening = true;
  const { limits } = options;
  const links = new ServedLinks(service, options);
  const link = processLink({ limits, framing: either(new MessageCodec({ depth: limits?.depth ?? defaultLimits.depth })) });
  const served = links.add(answersProbes(link)).finally(() => {
    listening = false;
    // Nobody can come back for what is parked.
    return links.drain();
  });
  return listenerOf("proto+stdio:", () => links.drain(), served);
}
