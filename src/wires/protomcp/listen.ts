import type { Socket } from "node:net";
import { MessageCodec } from "../../codec/bufmcpv1/index.js";
import {
  type Address,
  accountOf,
  defaultLimits,
  Fault,
  type Listener,
  type ListenOptions,
  limitsOf,
  listenerOf,
  type Service,
} from "../../core/index.js";
import { observedAs, ServedLinks } from "../../era/index.js";
import {
  type AuthOptions,
  admitByToken,
  answersProbes,
  certificateName,
  checksTokens,
  firstByte,
  type GrpcPeer,
  type Mount,
  placeOf,
  port,
  portListener,
  processLink,
  type SecureListenOptions,
} from "../../io/index.js";
import { either } from "./framing.js";
import { servedLink } from "./served-link.js";

export interface ProtoListenOptions extends ListenOptions, SecureListenOptions {
  /** Checks tokens in the metadata of requests. A client with a certificate needs none. */
  readonly auth?: AuthOptions | undefined;
  /** Milliseconds for the first byte; 15,000 unless given. */
  readonly headersMs?: number | undefined;
}

/** The largest first byte of a length. The next one, 0x09, may begin a line of JSON. */
const LAST = 0x08;

/** proto-mcp on a port: one connection is one link, of either era. */
export function protoMount(service: Service, given: ProtoListenOptions): Mount {
  const options = observedAs(given, "listen", "proto");
  const links = new ServedLinks(service, options);
  const { messageBytes } = limitsOf(options.limits);
  const take = async (socket: Socket, { address, certificate }: GrpcPeer): Promise<void> => {
    if (links.closing.fired) return void socket.destroy();
    const { auth, limits, headersMs } = options;
    const account = accountOf(socket, limits, address);
    const principal = certificate === undefined ? undefined : certificateName(certificate);
    const link = servedLink(socket, { account, principal, limits });
    const known = { account, remote: address, principal };
    if (auth === undefined || principal !== undefined) return links.add(checksTokens(link, { ...options, principal }), known);
    const unhook = links.closing.on(() => socket.destroy());
    const admitted = await admitByToken(link, { ...options, auth }, headersMs);
    unhook();
    if (admitted !== undefined) await links.add(admitted.link, { ...known, ...admitted });
  };
  return {
    wire: "proto",
    addresses({ secure, authority, path }) {
      return [{ wire: "proto", address: path === undefined ? `proto+${secure ? "tls" : "tcp"}://${authority}` : `proto+unix:${path}` }];
    },
    bytes: {
      detect: firstByte([0, Math.min(LAST, messageBytes >>> 24)]),
      take: (socket, peer) => void take(socket, peer),
      checksCredentials: true,
    },
    close: () => links.drain(),
  };
}

export async function listen(service: Service, address: Address, options: ProtoListenOptions): Promise<Listener> {
  if (typeof address !== "string") throw new Fault("invalid-params", "a command can be dialed, not listened on; listen on proto+stdio:");
  if (address.startsWith("proto+stdio:")) return listenOnStreams(service, observedAs(options, "listen", "proto"));
  const { carrier } = placeOf(address, "", options);
  return portListener(await port(carrier, [protoMount(service, options)], options));
}

/** Serves this process's own stdin and stdout, in the protocol that the client begins with. */
async function listenOnStreams(service: Service, options: ListenOptions): Promise<Listener> {
  const { limits } = options;
  const codec = new MessageCodec({ depth: limits?.depth ?? defaultLimits.depth });
  const link = processLink({ limits, framing: either(codec) });
  const links = new ServedLinks(service, options);
  // Nobody can come back for what is parked.
  const served = links.add(checksTokens(answersProbes(link, codec), {})).finally(() => links.drain());
  return listenerOf("proto+stdio:", () => links.drain(), served);
}
