import { MessageCodec, payloadIn, withPayload } from "../../../codec/bufmcpv1/index.js";
import type { Incoming, OutgoingMessage } from "../../../codec/index.js";
import { type Connection, Fault, limitsOf, lowerCase, toFault } from "../../../core/index.js";
import { dialLink, hasRoom, type Link, observedAs, renewing, sharedStream } from "../../../era/index.js";
import { type Channel, type ClientCall, greet, grpcChannel, type Metadata, NoProto, secureContext } from "../../../io/index.js";
import { pipe } from "../../../stream/index.js";
import { grpcPlaceOf, targetsOf } from "../address.js";
import { dial } from "../dial/dial.js";
import type { GrpcDialOptions } from "../dial/options.js";
import { streamLink } from "../stream-link.js";
import { PROTO, SESSION, unaryRpcs } from "./rpcs.js";

/** Dials `buf.mcp.v1.MCPService`: its `Session`, or the unary RPCs of a base server. A server that has neither is dialed as `grpc:`. */
export async function dialProto(address: string, given: GrpcDialOptions): Promise<Connection> {
  const options = observedAs(given, "dial", "proto-grpc");
  const place = grpcPlaceOf(address);
  const { keepalive, gzip, limits, http2 } = options;
  const channel = grpcChannel(targetsOf(place, place.scheme === "grpcs" ? secureContext(options.tls) : undefined), {
    keepalive,
    gzip,
    http2,
    messageBytes: limits?.messageBytes,
  });
  const metadata: Metadata = lowerCase(options.headers);
  const opened = async (open: (codec: MessageCodec) => Link): Promise<Link> => {
    const codec = new MessageCodec(limitsOf(limits));
    return greet(open(codec), codec, options);
  };
  const session = (): Promise<Link> => opened((codec) => openSession(channel, metadata, codec));
  try {
    const first = await session().catch((error) => {
      if (isForeign(error)) return undefined;
      throw error;
    });
    const released = (): Promise<void> => channel.close();
    if (first !== undefined) return await dialLink(renewing(first, { ...options, connect: session, released }), options);
    const unary = (): Promise<Link> => opened((codec) => unaryLink(channel, metadata, codec));
    return await dialLink(renewing(await unary(), { ...options, connect: unary, released }), options);
  } catch (error) {
    await channel.close();
    if (!isForeign(error) || options.jsonToo === false) throw error instanceof NoProto ? error.fault : error;
    return dial(address.slice("proto+".length), observedAs(given, "dial", "grpc"));
  }
}

/** Whether the server does not have the method. */
function isForeign(error: unknown): boolean {
  return toFault(error instanceof NoProto ? error.fault : error).code === "unknown-method";
}

function openSession(channel: Channel, metadata: Metadata, codec: MessageCodec): Link {
  const call: ClientCall = channel.call(SESSION, { metadata });
  return streamLink(call, codec, () => {
    call.done();
    call.cancel();
  });
}

/** Answers that may wait for their reader. */
const WAITING = 4096;

/** A link that sends each request as an RPC of its own. */
function unaryLink(channel: Channel, metadata: Metadata, codec: MessageCodec): Link {
  const inbox = pipe<Incoming>({ items: WAITING });
  const open = new Set<ClientCall>();
  const ask = async (id: number, number: number, bytes: Uint8Array): Promise<void> => {
    const rpc = unaryRpcs.find(({ request }) => request === number);
    if (rpc === undefined) throw new Fault("unknown-method", "the base of proto-mcp has no RPC for it");
    const call = channel.call(`${PROTO}${rpc.name}`, { metadata });
    open.add(call);
    try {
      void call.send(bytes);
      call.done();
      for await (const batch of call.messages)
        for (const body of batch) {
          const messages = codec.decode(withPayload(id, { number: rpc.response, bytes: body }));
          // Whatever the server announces: additions to the base have no RPC.
          codec.full = false;
          for (const message of messages) await inbox.write(message);
        }
    } catch (error) {
      await inbox.write({ kind: "bad", answers: id, failed: true, fault: toFault(error) });
    } finally {
      open.delete(call);
    }
  };
  return {
    ...sharedStream,
    incoming: (async function* () {
      for await (const message of inbox) yield [message];
    })(),
    backlog: 0,
    send(message) {
      try {
        const bytes = codec.encode(message);
        if (bytes === undefined) return hasRoom;
        const { number, bytes: body } = payloadIn(bytes);
        ask(Number((message as OutgoingMessage & { readonly id: unknown }).id), number, body).catch(() => {});
        return hasRoom;
      } catch (error) {
        return Promise.reject(toFault(error));
      }
    },
    async close() {
      for (const call of open) call.cancel();
      inbox.close();
    },
  };
}
