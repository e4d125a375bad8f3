import { servicesOf } from "../services/served.js";
import { exchange } from "./exchange.js";
import type { ConnectProtocolOptions, Handle } from "./options.js";
import { type ConnectRoutes, connectRoutes } from "./router.js";

export interface Loaded extends ConnectRoutes {
  readonly exchange: typeof exchange;
}

/** Everything that needs Connect and the descriptors. */
export function loaded(handle: Handle, served: ConnectProtocolOptions): Loaded {
  return { ...connectRoutes(servicesOf(served), handle, served.options), exchange };
}
