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
  held,
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
  /** Wires of your own, asked before those of the package. */
  readonly wires?: readonly Wire[] | undefined;
  /** Items of a page of a list that the server does not page itself; 1024 unless said otherwise. */
  readonly pageSize?: number | undefined;
  /** Headers of every call, lower case, on wires that have them. */
  readonly metadata?: Context["metadata"] | undefined;
}

/**
 * The transport by which the SDK's Client, v1 or v2 and in either era, reaches what is at an address or a service in
 * this process. An address is dialed when the client first calls, as the client that it says it is; closing the
 * transport closes what was dialed, and not a service that was given.
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
        // The SDK's client and this end of the link are one program.
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

/** A link whose end is no half of one: the client that closed it reads no more answers, and nothing has to wait for them. */
function withoutDrain(link: Link): Link {
  return {
    ...link,
    // What passes goes through the SDK, as JSON.
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
  /** Resolves when nothing can be called any more. */
  readonly closed: Promise<Fault | undefined>;
  close(): Promise<void>;
}

function given(service: Service & Partial<Connection>): Upstream {
  return { service, closed: service.closed ?? new Promise(() => {}), close: () => Promise.resolve() };
}

/** Dials in the client's own era where the server speaks both: a legacy server asks in the middle of a call, and so its client expects. */
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
    // Only a server that answered can be one that speaks the other era.
    if (!(error instanceof Fault) || (error.rpcCode === undefined && error.code !== "unsupported-version")) throw error;
    return await wire.dial(address, { ...told, era: "modern" });
  }
}

/** Dials with the identity of its first caller, which a legacy server is told once and for all. */
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
        // Whoever calls next tries again.
        connection = undefined;
      },
    );
    return connection;
  };
  const release = (): void => {};
  return {
    service: {
      call: (request: Request, context: Context): Replies =>
        held(async () => ({ service: await open(context.client), release }), request, context),
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
