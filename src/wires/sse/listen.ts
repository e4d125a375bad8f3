import { type Incoming, parseMessage, serialise, writeSse } from "../../codec/index.js";
import {
  type Address,
  bodyMsOf,
  closingFault,
  defaultTimeouts,
  Fault,
  type Listener,
  type ListenOptions,
  limitsOf,
  quotaOwner,
  refusedStatus,
  requestStatuses,
  type Service,
  SSE_PATH,
  toFault,
  weigh,
} from "../../core/index.js";
import {
  ClientPings,
  type Link,
  observedAs,
  ServedLinks,
  type ServeLinkOptions,
  type SessionLimits,
  SessionTable,
  sharedStream,
  type TableSession,
} from "../../era/index.js";
import {
  admit,
  corsHeaders,
  type Exchange,
  type GateOptions,
  type Mount,
  nodeExchange,
  placeOf,
  port,
  portListener,
  type SecureListenOptions,
} from "../../io/index.js";
import { type Pipe, pipe, timerMs } from "../../stream/index.js";

/** A session is its stream here, so it is never idle. */
export interface SseOptions extends ListenOptions, GateOptions, SecureListenOptions, Omit<SessionLimits, "idleMs"> {
  /** Milliseconds between keep-alives on a quiet stream. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Milliseconds of silence from a client after which it is sent a `ping`; 30,000 unless given, `Infinity`: never. If a client that has
   * answered before leaves two unanswered, its session ends.
   */
  readonly pingMs?: number | undefined;
  /** Names the endpoint relative to the stream, for a proxy that serves both below a path of its own. Some clients cannot read that. */
  readonly relativeEndpoint?: boolean | undefined;
  /** Milliseconds for the head of a request; 15,000 unless given. The whole request has four times as long. */
  readonly headersMs?: number | undefined;
}

interface Session extends TableSession {
  readonly inbox: Pipe<readonly Incoming[]>;
  readonly pings: ClientPings;
}

/** Bytes of messages that may wait for their session. */
const INBOX_BYTES = 64 * 1024;

const sseHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** HTTP+SSE of 2024-11-05 on a port: a stream on GET, and an endpoint to POST to that its first event names. */
export function sseMount(service: Service, given: SseOptions, path: string = SSE_PATH): Mount {
  const options = observedAs(given, "listen", "sse");
  const post = `${path.replace(/\/[^/]*$/, "")}/message`;
  const limits = limitsOf(options.limits);
  const sessions = new SessionTable<Session>(options);
  const links = new ServedLinks(service, options);

  const open = (exchange: Exchange, { principal, credentials }: Pick<ServeLinkOptions, "principal" | "credentials">): void => {
    if (links.closing.fired) return refuse(exchange, links.closing.reason);
    const { remote } = exchange;
    const session = sessions.begin(quotaOwner({ principal, remote }), (id) => {
      const inbox = pipe<readonly Incoming[]>({ items: 1024, bytes: INBOX_BYTES, size: ([message]) => weigh(message) });
      return {
        id,
        principal,
        inbox,
        pings: new ClientPings(options.pingMs),
        touched: 0,
        connected: true,
        idleSince: undefined,
        end: () => inbox.close(),
      };
    });
    const over = (reason: Fault) => sessions.end(session, reason);
    const link = streamLink(exchange, session, { keepAliveMs: options.keepAliveMs ?? defaultTimeouts.keepAliveMs, over });
    const endpoint = options.relativeEndpoint === true ? post.slice(exchange.path === path ? post.lastIndexOf("/") + 1 : 1) : post;
    void link.outlet.write(writeSse({ event: "endpoint", data: `${endpoint}?sessionId=${session.id}` }));
    void links.add(link, { eras: ["legacy"], metadata: exchange.headers, account: exchange.account, remote, principal, credentials });
  };

  const take = async (exchange: Exchange, principal: string | undefined): Promise<void> => {
    const headers = corsHeaders(exchange);
    const session = sessions.find(exchange.query.get("sessionId") ?? "", principal);
    if (session === undefined) return exchange.reply(UNKNOWN_SESSION, headers, "no such session\n");
    const type = exchange.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (type !== "application/json" || (exchange.header("content-encoding") ?? "identity") !== "identity")
      return exchange.reply(requestStatuses["a body of another type, or packed"], headers, "the body has to be plain application/json\n");
    const text = await exchange.body(limits.messageBytes);
    const message = parseMessage(text, { depth: limits.depth });
    if (message.kind === "bad") {
      const { fault, answers } = message;
      if (answers === undefined) options.onFault?.(fault);
      // The question that it was to answer ends, too. No other answer will come.
      else await session.inbox.write([{ kind: "bad", answers, silent: true, fault }]);
      return refuse(exchange, fault);
    }
    if (session.pings.heard(message)) return exchange.reply(202, headers, "Accepted");
    // While the session is behind, clients that post to it wait. Their waiting messages are counted.
    if (!session.inbox.offer([message])) {
      const held = exchange.account.hold(principal);
      const over = held.count(text.length);
      if (over !== undefined) {
        held.free();
        return refuse(exchange, over);
      }
      const taken = await session.inbox.write([message]);
      held.free();
      if (!taken) return exchange.reply(UNKNOWN_SESSION, headers, "the session has ended\n");
    }
    return exchange.reply(202, headers, "Accepted");
  };

  const handle = async (exchange: Exchange): Promise<void> => {
    const admission = await admit(exchange, options, path);
    if ("status" in admission) return exchange.reply(admission.status, admission.headers, admission.text);
    if (exchange.method === "GET" && (exchange.path === path || exchange.path === "/")) return open(exchange, admission);
    if (exchange.method === "POST" && exchange.path === post) return take(exchange, admission.principal);
    return exchange.reply(requestStatuses["no such path"], admission.headers, `no such path; the stream is at ${path}\n`);
  };

  return {
    wire: "sse",
    addresses: ({ secure, authority, path: socket }) =>
      socket === undefined ? [{ wire: "sse", address: `sse+http${secure ? "s" : ""}://${authority}${path}` }] : [],
    claims: (asked) => asked === path || asked === post,
    request(request, response) {
      const exchange = nodeExchange(request, response, { bodyMs: bodyMsOf(options.headersMs ?? defaultTimeouts.headersMs), limits });
      handle(exchange).catch((error) => refuse(exchange, toFault(error)));
    },
    // Clients post the answers to questions of calls in flight.
    connectsWhileDraining: true,
    async close() {
      await links.drain();
      sessions.close(links.closing.reason ?? closingFault());
    },
  };
}

export async function listenSse(service: Service, address: Address, options: SseOptions): Promise<Listener> {
  const { carrier, path } = placeOf(address, SSE_PATH, options);
  return portListener(await port(carrier, [sseMount(service, options, path)], options));
}

const UNKNOWN_SESSION = requestStatuses["a session that is unknown, ended or another's"];

function refuse(exchange: Exchange, fault: Fault = closingFault()): void {
  exchange.reply(refusedStatus(fault, "legacy"), corsHeaders(exchange), `${fault.message}\n`);
}

/** A link made of the stream of a GET and the posted messages. */
function streamLink(
  exchange: Exchange,
  { inbox, pings }: Session,
  { keepAliveMs, over }: { readonly keepAliveMs: number; readonly over: (reason: Fault) => void },
): Link & { readonly outlet: ReturnType<Exchange["stream"]> } {
  const outlet = exchange.stream(200, { ...corsHeaders(exchange), ...sseHeaders });
  const closed = new Fault("unavailable", "the client closed the stream", { data: { reason: "closed" } });
  let writing = 0;
  let gone = false;
  const timer = setInterval(() => {
    // While something is being written, the stream is alive, or nobody reads it.
    if (writing > 0) return;
    const ping = pings.due();
    if (ping instanceof Fault) {
      outlet.abort();
      end(ping);
    } else void outlet.write(ping === undefined ? ": alive\n\n" : writeSse({ event: "message", data: ping }));
  }, timerMs(keepAliveMs));
  timer.unref();
  const end = (reason: Fault): void => {
    gone = true;
    clearInterval(timer);
    over(reason);
  };
  const unhook = exchange.onGone(() => end(closed));
  return {
    ...sharedStream,
    outlet,
    incoming: inbox,
    get backlog() {
      return outlet.backlog;
    },
    async send(message) {
      if (gone) throw closed;
      writing++;
      await outlet.write(writeSse({ event: "message", data: serialise(message) })).finally(() => writing--);
    },
    async close() {
      unhook();
      end(closed);
      outlet.end();
    },
  };
}
