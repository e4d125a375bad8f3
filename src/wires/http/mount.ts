import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { bodyMsOf, type Service } from "../../core/index.js";
import { fetchExchange, nodeExchange } from "../../io/index.js";
import { httpEndpoint } from "./endpoint.js";
import type { HttpOptions } from "./options.js";

/** A request listener for Node's servers and frameworks built on them. A body that a framework has parsed is taken from `request.body`. */
export interface NodeHandler {
  (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void;
  /** Refuses new calls, gives those in flight `drainMs` to finish, and ends every session and open answer. */
  close(): Promise<void>;
}

/** The endpoint as a request listener. It answers every path unless one is given, because the host routes requests to it. */
export function nodeHandler(service: Service, options: HttpOptions = {}): NodeHandler {
  const endpoint = httpEndpoint(service, options);
  const bodyMs = options.headersMs === undefined ? undefined : bodyMsOf(options.headersMs);
  const handler = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void =>
    void endpoint.handle(nodeExchange(request, response, { bodyMs, limits: options.limits }));
  return Object.assign(handler, { close: () => endpoint.close() });
}

/** A handler of Fetch requests, for Hono, Deno, Bun and edge runtimes. */
export interface FetchHandler {
  (request: Request): Promise<Response>;
  /** Refuses new calls, gives those in flight `drainMs` to finish, and ends every session and open answer. */
  close(): Promise<void>;
}

/** The endpoint as a Fetch handler. It answers every path unless one is given, because the host routes requests to it. */
export function fetchHandler(service: Service, options: HttpOptions = {}): FetchHandler {
  const endpoint = httpEndpoint(service, options);
  const handler = (request: Request): Promise<Response> => {
    const { exchange, response } = fetchExchange(request, options.limits);
    void endpoint.handle(exchange);
    return response;
  };
  return Object.assign(handler, { close: () => endpoint.close() });
}
