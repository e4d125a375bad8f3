import { wireFor } from "../api/index.js";
import { isBatch, type Outgoing, sentMessage } from "../codec/index.js";
import {
  type Address,
  Caller,
  type Client,
  type Connection,
  type Context,
  type DialOptions,
  Fault,
  leasedReplies,
  type Replies,
  type Request,
  type Service,
  type Wire,
} from "../core/index.js";
import { type Link, serveLink, sharedStream } from "../era/index.js";
import { linkPair } from "../wires/memory/index.js";
import { linkTransport } from "./link-transport.js";
import type { SdkTransport } from "./types.js";

export interface ClientTransportOptions extends Omit<DialOptions, "client" | "signal"> {
  /** Your own wires, which are tried before the built-in ones. */
  readonly wires?: readonly Wire[] | undefined;
  /** Items in a page of a list that the server does not page itself; 1024 unless given. */
  readonly pageSize?: number | undefined;
  /** Headers of every call, in lower case, on wires that have headers. */
  readonly metadata?: Context["metadata"] | undefined;
}

/**
 * The transport with which the SDK's Client, v1 or v2 and in either era, reaches an address or a service in this process. An address is
 * dialed at the client's first call, with the client's own info. Closing the transport closes what was dialed, but not a given service.
 */
export function clientTransport(to: Address | Service, options: ClientTransportOptions = {}): SdkTransport {
  const [near, far] = linkPair();
  const upstream = typeof to === "object" && "call" in to ? given(to) : dialed(to, options);
  let served: Promise<unknown> | undefined;
  const identity = new Caller({ span: "self" });
  const transport = linkTransport(near, {
    start() {
      const { limits, onFault, pageSize, metadata } = options;
      served = serveLink(upstream.service, withoutDrain(far), {
        limits,
        onFault,
        pageSize,
        // The SDK's client and this end of the link belong to the same program.
        identity,
        ...(metadata === undefined ? undefined : { metadata }),
      })
        .catch((fault: Fault) => fault !== LEFT && transport.onerror?.(fault))
        .finally(() => upstream.close());
      void upstream.closed.then(async (reason) => {
        if (reason !== undefined) transport.onerror?.(reason);
        // The calls that failed with it are answered first.
        await new Promise<void>((resolve) => setImmediate(resolve));
        await far.close(reason);
      });
    },
    end: async () => {
      await upstream.close();
      await served;
      identity.end();
    },
  });
  return transport;
}

const LEFT = new Fault("cancelled", "the client closed its transport");

/** A link without a half-closed state: a client that closed it reads no more answers, so nothing waits for them. */
function withoutDrain(link: Link): Link {
  return {
    ...link,
    // Messages pass through the SDK, as JSON.
    traits: sharedStream.traits,
    send: (message, options) => link.send(plainMessage(message), options),
    incoming: (async function* () {
      yield* link.incoming;
      throw LEFT;
    })(),
    get backlog() {
      return link.backlog;
    },
  };
}

function plainMessage(message: Outgoing): Outgoing {
  return isBatch(message) ? message.map(sentMessage) : sentMessage(message);
}

interface Upstream {
  readonly service: Service;
  /** Resolves when no more calls are possible. */
  readonly closed: Promise<Fault | undefined>;
  close(): Promise<void>;
}

function given(service: Service & Partial<Connection>): Upstream {
  return { service, closed: service.closed ?? new Promise(() => {}), close: () => Promise.resolve() };
}

/**
 * Dials in the client's own era if the server speaks both: a legacy client expects questions in the middle of a call, as a legacy server
 * asks them.
 */
async function dialAs(
  { era, info, capabilities }: Client,
  address: Address,
  options: ClientTransportOptions & DialOptions,
): Promise<Connection> {
  const wire = await wireFor(address, options.wires);
  const told: DialOptions = { ...options, client: { capabilities, ...(info === undefined ? undefined : { info }) } };
  if (era === "modern" || (options.era ?? "auto") !== "auto") return wire.dial(address, told);
  try {
    return await wire.dial(address, { ...told, era: "legacy" });
  } catch (error) {
    // Only a server that has answered may speak the other era.
    if (!(error instanceof Fault) || (error.rpcCode === undefined && error.code !== "unsupported-version")) throw error;
    return await wire.dial(address, { ...told, era: "modern" });
  }
}

/** Dials with the identity of its first caller, which a legacy server is told once. */
function dialed(address: Address, options: ClientTransportOptions): Upstream {
  let connection: Promise<Connection> | undefined;
  let ended: (reason: Fault | undefined) => void;
  const closed = new Promise<Fault | undefined>((resolve) => {
    ended = resolve;
  });
  const abort = new AbortController();
  const open = (client: Client): Promise<Connection> => {
    if (connection !== undefined) return connection;
    connection = dialAs(client, address, { ...options, signal: abort.signal });
    connection.then(
      (opened) => void opened.closed.then(ended),
      () => {
        // The next call tries again.
        connection = undefined;
      },
    );
    return connection;
  };
  const release = (): void => {};
  return {
    service: {
      call: (request: Request, context: Context): Replies =>
        leasedReplies(async () => ({ service: await open(context.client), release }), request, context),
      notify: async (notification, context) => (await open(context.client)).notify(notification, context),
    },
    closed,
    async close() {
      abort.abort();
      await connection?.then(
        (opened) => opened.close(),
        () => {},
      );
      ended(undefined);
    },
  };
}
