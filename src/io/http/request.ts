import { type Cancel, defaultTimeouts, Fault, isObject } from "../../core/index.js";
import { HttpConnections } from "../http1/connections.js";
import { sendOwn } from "../http1/send.js";
import type { TlsDialOptions } from "../tls.js";
import { sendSecure } from "./secure-request.js";
import type { Sent } from "./sent.js";
import { REFUSED } from "./shared-connection.js";
import { type Awaits, Silence, type SilenceOptions } from "./silence.js";
import { tlsConnections } from "./tls-connections.js";

export interface HttpSendOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the request, or the rest of its answer. */
  readonly cancel?: Cancel;
  /** What the request waits for, which decides when a silent server is given up; `call` unless given. */
  readonly awaits?: Awaits;
  /** Whether calls in flight may wait for it. It does not wait behind them for a connection. */
  readonly urgent?: boolean;
  /** Called when all of it was handed to the system, if that is known before the answer. */
  readonly onSent?: () => void;
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
  const connections = new HttpConnections({ path: socketPath });
  const secure = tlsConnections({ tls, pingMs, deadMs });
  const silence = new Silence({ deadMs, probe });
  return {
    send(method, url, options) {
      if (url.protocol !== "https:") return sendOwn(method, url, options, { connections, silence });
      const attempt = (): Promise<Sent> =>
        secure.use(url, options.cancel, (connection) =>
          "send" in connection ? connection.send(method, url, options) : sendSecure(method, url, options, { agent: connection, silence }),
        );
      // A refused request was not processed, so it may be sent again.
      return attempt().catch((error) => (isRefused(error) ? attempt() : Promise.reject(error)));
    },
    close() {
      silence.stop();
      connections.destroy();
      secure.close();
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof Fault && isObject(error.data) && error.data["reason"] === REFUSED;
}
