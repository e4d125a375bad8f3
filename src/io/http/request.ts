import { type Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { type Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { urlToHttpOptions } from "node:url";
import { type Cancel, defaultTimeouts, extended, Fault, isObject } from "../../core/index.js";
import type { TlsDialOptions } from "../tls.js";
import { REFUSED } from "./lane.js";
import { lanes } from "./lanes.js";
import { requestFault, type Sent, sent } from "./sent.js";
import { type Awaits, beat, Silence, type SilenceOptions } from "./silence.js";
import { Sockets } from "./sockets.js";

export interface HttpSendOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the request, or the rest of its answer. */
  readonly cancel?: Cancel;
  /** What the request waits for, which decides when a silent server is given up; `call` unless given. */
  readonly awaits?: Awaits;
}

export interface HttpClient {
  send(method: string, url: URL, options: HttpSendOptions): Promise<Sent>;
  close(): void;
}

export interface HttpClientOptions {
  readonly tls?: TlsDialOptions | undefined;
  /** Milliseconds between pings on an HTTP/2 connection that is in use; 15,000 unless given. */
  readonly pingMs?: number | undefined;
  /** Milliseconds of silence after which a server is probed, or counts as gone; 45,000 unless given, `Infinity`: never. */
  readonly deadMs?: number | undefined;
  readonly probe?: SilenceOptions["probe"];
  /** A Unix socket to connect to, in place of the host of a URL without TLS. */
  readonly socketPath?: string | undefined;
}

/**
 * Sends requests on connections that are kept. Over TLS it uses HTTP/2 where the server offers it, and many requests share a connection;
 * everything else is HTTP/1.1. Throws a Fault `invalid-params` if the TLS options cannot be used.
 */
export function httpClient({
  tls,
  pingMs = defaultTimeouts.keepAliveMs,
  deadMs = defaultTimeouts.deadMs,
  probe,
  socketPath,
}: HttpClientOptions = {}): HttpClient {
  const agent = new Sockets({ most: 1024, kept: 256, path: socketPath });
  const secure = lanes({ tls, pingMs, deadMs });
  const silence = new Silence({ deadMs, probe }, dropKept);
  return {
    send(method, url, options) {
      if (url.protocol !== "https:") return sendPlain(method, url, options, { agent, silence });
      const attempt = (): Promise<Sent> =>
        secure.use(url, options.cancel, (lane) =>
          "send" in lane ? lane.send(method, url, options) : sendPlain(method, url, options, { agent: lane, silence }),
        );
      // A refused request was not processed, so it may be sent again.
      return attempt().catch((error) => (isRefused(error) ? attempt() : Promise.reject(error)));
    },
    close() {
      silence.stop();
      agent.destroy();
      secure.close();
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof Fault && isObject(error.data) && error.data["reason"] === REFUSED;
}

/** Parsed URLs: a link sends everything to one. */
const places = new WeakMap<URL, ReturnType<typeof urlToHttpOptions>>();

function placeOf(url: URL): ReturnType<typeof urlToHttpOptions> {
  let place = places.get(url);
  if (place === undefined) places.set(url, (place = urlToHttpOptions(url)));
  return place;
}

/** Closes the connections that have no request. */
function dropKept(agent: Agent): void {
  if (agent instanceof Sockets) return agent.dropKept();
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

interface Via {
  readonly agent: Sockets | HttpsAgent;
  readonly silence: Silence;
}

/** Sends over HTTP/1.1. */
function sendPlain(
  method: string,
  url: URL,
  { headers, body, cancel, awaits = "call" }: HttpSendOptions,
  { agent, silence }: Via,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const { protocol, hostname, port, path, auth } = placeOf(url);
    const lengthened = body === undefined ? headers : extended(headers, { "content-length": Buffer.byteLength(body) });
    const options = { protocol, hostname, port, path, auth, method, headers: lengthened as OutgoingHttpHeaders, agent };
    const request = (protocol === "https:" ? httpsRequest : httpRequest)(options);
    const awaited = silence.add(request, agent, awaits);
    request.once("response", (response: IncomingMessage) => {
      awaited.response = response;
      if (agent instanceof Sockets) agent.heed(response);
      resolve(sent(response.statusCode ?? 0, response.headers, response, undefined, () => beat(awaited)));
    });
    request.on("error", (error: NodeJS.ErrnoException) => reject(requestFault(error, url)));
    const unhook = cancel?.on(() => void request.destroy());
    request.once("close", () => {
      silence.remove(awaited);
      unhook?.();
    });
    request.end(body);
  });
}
