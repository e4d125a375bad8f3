import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Fault } from "../../core/index.js";
import { secureContext, type TlsDialOptions } from "../tls.js";

export interface Sent {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it comes; leaving it closes the connection's stream. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The body as text, up to a limit. */
  text(maxBytes: number): Promise<string>;
}

export interface HttpClient {
  send(
    method: string,
    url: URL,
    options: { readonly headers: Readonly<Record<string, string>>; readonly body?: string; readonly signal?: AbortSignal },
  ): Promise<Sent>;
  close(): void;
}

export interface HttpClientOptions {
  readonly tls?: TlsDialOptions | undefined;
}

/** Requests on kept-alive connections. Throws a Fault `invalid-params` if the TLS options are of no use. */
export function httpClient({ tls }: HttpClientOptions = {}): HttpClient {
  const kept = { keepAlive: true, maxSockets: 1024, maxFreeSockets: 256 };
  const agents = {
    "http:": new HttpAgent(kept),
    "https:": new HttpsAgent({ ...kept, ...secureContext(tls) }),
  };
  return {
    send(method, url, { headers, body, signal }) {
      const secure = url.protocol === "https:";
      return new Promise((resolve, reject) => {
        const length = body === undefined ? undefined : { "content-length": Buffer.byteLength(body) };
        const request = (secure ? httpsRequest : httpRequest)(url, {
          method,
          headers: { ...headers, ...length },
          agent: secure ? agents["https:"] : agents["http:"],
        });
        const abort = (): void => void request.destroy();
        signal?.addEventListener("abort", abort, { once: true });
        request.once("close", () => signal?.removeEventListener("abort", abort));
        request.once("response", (response) => {
          // A connection cut while nobody reads is told to whoever reads next, not thrown.
          response.on("error", () => {});
          resolve(sent(response));
        });
        request.on("error", (error: NodeJS.ErrnoException) => reject(requestFault(error, url)));
        if (signal?.aborted === true) abort();
        request.end(body);
      });
    },
    close() {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

function sent(response: IncomingMessage): Sent {
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: bytesOf(response),
    text: (maxBytes) => textOf(response, maxBytes),
  };
}

async function* bytesOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (error) {
    throw cut(error);
  }
}

function cut(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("unavailable", "the server closed the connection", { cause: error, data: { reason: "closed" } });
}

function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes)
        response.destroy(
          new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max: maxBytes } }),
        );
    });
    response.once("end", () => {
      try {
        resolve(new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      } catch (error) {
        reject(new Fault("parse", "the answer is not UTF-8", { cause: error }));
      }
    });
    response.once("error", (error) => reject(cut(error)));
    // Nothing else may come of a request that was given up.
    response.once("close", () => reject(cut(undefined)));
  });
}

function requestFault(error: NodeJS.ErrnoException, url: URL): Fault {
  const reasons: Record<string, string> = {
    ECONNREFUSED: "nothing listens there",
    ENOTFOUND: "the host is not known",
    ECONNRESET: "the connection was cut",
    ETIMEDOUT: "no answer",
  };
  return new Fault("unavailable", `cannot reach ${url.origin}: ${reasons[error.code ?? ""] ?? error.message}`, {
    cause: error,
    data: { reason: error.code ?? "failed" },
  });
}
