import { type Incoming, type Outgoing, parseMessage, serialise, sseParser } from "../../codec/index.js";
import {
  Canceller,
  type DialOptions,
  defaultTimeouts,
  Fault,
  type Limits,
  lateHandshake,
  limitsOf,
  lowerCase,
  messageTooLarge,
  toFault,
} from "../../core/index.js";
import { type Link, sharedStream } from "../../era/index.js";
import { authorized, type HttpAuth, httpClient, type Sent, type TlsDialOptions } from "../../io/index.js";
import { type Pipe, pipe, timerMs } from "../../stream/index.js";
import { StreamPing } from "./ping.js";
import { Posts, requestOf, unexpectedStatus } from "./posts.js";

export interface SseDialOptions extends DialOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The credentials of every request, and how to react when the server asks for others. */
  readonly auth?: HttpAuth | undefined;
  readonly tls?: TlsDialOptions | undefined;
  /** Milliseconds between pings on an HTTP/2 connection; 15,000 unless given. */
  readonly pingMs?: number | undefined;
  /**
   * Milliseconds of silence on the stream after which a server that has sent keep-alives counts as gone. Any other server is sent a `ping`,
   * and has as long to answer. 45,000 unless given, `Infinity`: never.
   */
  readonly deadMs?: number | undefined;
}

/** Opens the stream, waits for the endpoint to POST to, and makes a link of the two. */
export async function sseLink(url: URL, given: SseDialOptions): Promise<Link> {
  const options = { ...given, headers: lowerCase(given.headers) };
  const limits = limitsOf(options.limits);
  const cancel = new Canceller();
  const ping = new StreamPing(url, options, cancel);
  const plain = httpClient({ ...options, probe: (deadMs) => ping.send(deadMs) });
  // Whatever endpoint the stream names, the credentials are for the dialed address.
  const client = options.auth === undefined ? plain : authorized(plain, options.auth, url);
  const inbox = pipe<readonly Incoming[]>({ items: 1024 });
  let closed: Fault | undefined;

  const open = async (found: (endpoint: URL) => void): Promise<void> => {
    // Silence on this stream counts even if it is idle, because without it there is no session.
    const sent = await client.send("GET", url, { headers: { accept: "text/event-stream", ...options.headers }, cancel });
    if (sent.status !== 200) throw unexpectedStatus(sent.status);
    const type = sent.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (type !== "text/event-stream")
      throw new Fault("unavailable", `the server's answer is not a stream of events: ${type ?? "of no type"}`, {
        data: { reason: "no-stream" },
      });
    await read(sent, { url, limits, inbox, found, ping });
    throw new Fault("unavailable", "the server closed the stream", { data: { reason: "closed" } });
  };
  const target = await named(options, (found, failed) =>
    open(found).catch((error) => {
      closed ??= toFault(error);
      failed(closed);
      inbox.fail(closed);
    }),
  ).catch((fault) => {
    cancel.fire();
    client.close();
    throw fault;
  });

  ping.target = target;

  const posts = new Posts({ client, target, headers: options.headers, limits, cancel });
  return {
    ...sharedStream,
    incoming: inbox,
    get backlog() {
      return posts.backlog;
    },
    async send(message: Outgoing) {
      if (closed !== undefined) throw closed;
      const text = serialise(message);
      if (text.length > limits.messageBytes) throw messageTooLarge(limits.messageBytes);
      const answers = requestOf(message);
      const posted = posts.post(message, text);
      // A message outside any call must arrive before those that follow it.
      if (answers === undefined) return posted;
      posted.catch((error) => {
        if (closed === undefined) void inbox.write([{ kind: "bad", answers, failed: true, fault: toFault(error) }]);
      });
      return posts.room();
    },
    async close(reason) {
      closed ??= reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
      cancel.fire(closed);
      ping.heard();
      inbox.close();
      client.close();
    },
  };
}

interface ReadOptions {
  readonly url: URL;
  readonly limits: Limits;
  readonly inbox: Pipe<readonly Incoming[]>;
  readonly ping: StreamPing;
  found(endpoint: URL): void;
}

async function read(sent: Sent, { url, limits, inbox, ping, found }: ReadOptions): Promise<void> {
  const parser = sseParser({ maxBytes: limits.messageBytes });
  let named = false;
  let comments = 0;
  for await (const chunk of sent.body) {
    ping.heard();
    for (const event of parser.push(chunk)) {
      if (event.event === "endpoint") {
        named = true;
        found(sameOrigin(url, event.data));
      } else if (event.data !== "") {
        if (!named) throw new Fault("unavailable", "the server's stream begins without an endpoint", { data: { reason: "no-endpoint" } });
        const message = parseMessage(event.data, { depth: limits.depth });
        if (!ping.isAnswer(message)) await inbox.write([message]);
      }
    }
    if (parser.comments > comments) sent.beat();
    comments = parser.comments;
  }
}

/** Waits a limited time for the server to name its endpoint, and stops when the caller gives up. */
function named(options: DialOptions, start: (found: (endpoint: URL) => void, failed: (fault: Fault) => void) => void): Promise<URL> {
  const { signal, handshakeMs: ms = defaultTimeouts.handshakeMs } = options;
  return new Promise<URL>((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      act();
    };
    const failed = (fault: Fault): void => settle(() => reject(fault));
    const abort = (): void => failed(new Fault("cancelled", "dialing was given up", { cause: signal?.reason }));
    const timer = setTimeout(() => failed(lateHandshake(ms, "the server named no endpoint")), timerMs(ms));
    if (signal?.aborted === true) return abort();
    signal?.addEventListener("abort", abort);
    return start((endpoint) => settle(() => resolve(endpoint)), failed);
  });
}

/** The endpoint to POST to. It must have the same origin, or the stream could redirect the client's messages anywhere. */
function sameOrigin(url: URL, data: string): URL {
  if (!URL.canParse(data, url.href)) throw new Fault("denied", "the server names an endpoint that is not a URL");
  const target = new URL(data, url);
  if (target.origin !== url.origin) throw new Fault("denied", `the server names an endpoint of another origin: ${target.origin}`);
  return target;
}
