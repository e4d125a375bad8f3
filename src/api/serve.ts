import { type Address, Fault, type ListenAddress, type Listener, type Service, type Wire } from "../core/index.js";
import type { Mount } from "../io/index.js";
import type { GrpcListenOptions } from "../wires/grpc/index.js";
import type { HttpOptions } from "../wires/http/index.js";
import type { SseOptions } from "../wires/sse/index.js";
import type { WebSocketListenOptions } from "../wires/websocket/index.js";
import { checkedAddress } from "./addresses.js";
import { wireFor } from "./wires.js";

/** Each wire uses the options that it knows: `stateless` applies to HTTP, `gzip` to gRPC. */
export interface ServeOptions extends HttpOptions, SseOptions, WebSocketListenOptions, GrpcListenOptions {
  /** Your own wires, which are tried before the built-in ones. */
  readonly wires?: readonly Wire[];
  /** Other mounts on the port: health checks, metrics. */
  readonly mounts?: readonly Mount[] | undefined;
  /** With `any:`, the prefix of the paths of HTTP, HTTP+SSE and WebSocket. gRPC has its paths at the root. */
  readonly basePath?: string | undefined;
}

/** The listener that serve() returns. */
export interface ServeListener extends Listener {
  /** Every address that can be dialed, and its wire. */
  readonly addresses: readonly ListenAddress[];
}

/** Serves a service at an address: a streaming server, or one behind layers. */
export async function serve(service: Service, address: Address, options: ServeOptions = {}): Promise<ServeListener> {
  if (typeof service?.call !== "function")
    throw new Fault(
      "invalid-params",
      "serve needs a server: what createServer makes, or any other Service; sdkService adapts those of the official SDK",
    );
  const at = checkedAddress(address, "serve");
  checkOptions(options);
  const wire = await wireFor(at, options.wires);
  const listener = await wire.listen(service, at, options);
  const { addresses = [{ wire: wire.name, address: listener.address }] } = listener;
  const close = (): Promise<void> => listener.close();
  return { address: listener.address, addresses, closed: listener.closed, close, [Symbol.asyncDispose]: close };
}

/** Throws for options with which every request would be refused, and only the requests would tell. Programs without types may give anything. */
function checkOptions({ auth, allowedHosts, allowedOrigins }: ServeOptions): void {
  if (auth !== undefined && typeof auth?.verify !== "function")
    throw new Fault("invalid-params", "serve takes auth: { verify }, where verify is a function that gives the principal of a token");
  for (const [name, list] of Object.entries({ allowedHosts, allowedOrigins }))
    if (list !== undefined && !Array.isArray(list))
      throw new Fault("invalid-params", `serve takes a list as ${name}, such as ["example.com"], not ${JSON.stringify(list)}`);
}
