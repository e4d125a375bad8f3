import { ENCODINGS, MessageCodec, type ProtoEncoding } from "../../codec/bufmcpv1/index.js";
import type { Link } from "../../codec/index.js";
import { type Address, type Connection, type DialOptions, defaultLimits, Fault, type Wire } from "../../core/index.js";
import { dialLink, observedAs, renewing } from "../../era/index.js";
import { childLink, credentialsIn, type Framing, greet, NoProto, openSocketLink, type TlsDialOptions } from "../../io/index.js";
import { delimited } from "./framing.js";
import { listen } from "./listen.js";

export interface ProtoDialOptions extends DialOptions {
  /** Of these, credentials such as `authorization` go into the metadata of requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly tls?: TlsDialOptions | undefined;
  /** Whether to use lines of JSON-RPC with a peer that does not speak proto-mcp; true unless given. */
  readonly jsonToo?: boolean | undefined;
  /** The encodings of messages that are offered, the best first; `protobuf` and `json` unless given. */
  readonly encodings?: readonly ProtoEncoding[] | undefined;
}

/**
 * proto-mcp, length-delimited: `proto+tcp://host:port`, `proto+tls://host:port`, `proto+unix:PATH`, `proto+stdio:` and commands that speak
 * it.
 */
export const protomcp: Wire = {
  name: "proto",
  accepts: (address) =>
    typeof address === "string" ? /^proto\+(tcp:\/\/|tls:\/\/|unix:|stdio:)/.test(address) : address.speaks === "proto+stdio",
  listen,
  dial: (address, options) => dial(address, observedAs(options, "dial", "proto")),
};

async function dial(address: Address, options: ProtoDialOptions): Promise<Connection> {
  if (typeof address === "string" && address.startsWith("proto+stdio:"))
    throw new Fault("invalid-params", "proto+stdio: can be listened on; to dial, give the command to start");
  const open = typeof address === "string" ? toSocket(address.slice("proto+".length), options) : toChild(address, options);
  const lasts = typeof address === "string" || options.restart !== undefined;
  const dialed = (first: Link, again: Opener): Promise<Connection> => {
    const connect = async (signal: AbortSignal | undefined): Promise<Link> => again(signal);
    return dialLink(lasts ? renewing(first, { ...options, connect }) : first, options);
  };
  const credentials = typeof address === "string" ? credentialsIn(options.headers) : undefined;
  const { encodings = ENCODINGS } = options;
  const proto: Opener = (signal) => {
    const codec = new MessageCodec({ depth: options.limits?.depth ?? defaultLimits.depth });
    return open(signal, delimited(codec)).then((link) => greet(link, codec, { ...options, credentials, encodings }));
  };
  let first: Link;
  try {
    first = await proto(options.signal);
  } catch (error) {
    if (!(error instanceof NoProto)) throw error;
    if (options.jsonToo === false) throw error.fault;
    const json: Opener = (signal) => open(signal, undefined);
    return dialed(await json(options.signal), json);
  }
  return dialed(first, proto);
}

type Opener = (signal: AbortSignal | undefined) => Promise<Link>;
type OpenFramed = (signal: AbortSignal | undefined, framing: Framing | undefined) => Promise<Link>;

function toSocket(address: string, options: ProtoDialOptions): OpenFramed {
  return (signal, framing) => openSocketLink(address, { ...options, signal, framing });
}

function toChild(command: Exclude<Address, string>, { limits, onStderr, observe }: ProtoDialOptions): OpenFramed {
  return (_signal, framing) =>
    childLink(command, {
      framing,
      ...(limits === undefined ? undefined : { limits }),
      ...(onStderr === undefined ? undefined : { onStderr }),
      ...(observe === undefined ? undefined : { observe }),
    });
}
