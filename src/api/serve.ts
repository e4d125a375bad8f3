import type { Address, Listener, Service, Wire } from "../core/index.js";
import type { GrpcListenOptions } from "../wires/grpc/index.js";
import type { HttpOptions } from "../wires/http/index.js";
import type { SseOptions } from "../wires/sse/index.js";
import type { WebSocketListenOptions } from "../wires/websocket/index.js";
import { wireFor } from "./wires.js";

/** Each wire takes what it knows of these: `stateless` means something over HTTP, `pingMs` over WebSocket. */
export interface ServeOptions extends HttpOptions, SseOptions, WebSocketListenOptions, GrpcListenOptions {
  /** Wires of your own, asked before those of the package. */
  readonly wires?: readonly Wire[];
}

/** Serves a service, a streaming server or one behind layers, at an address. */
export async function serve(service: Service, address: Address, options: ServeOptions = {}): Promise<Listener> {
  const wire = await wireFor(address, options.wires);
  return wire.listen(service, address, options);
}
