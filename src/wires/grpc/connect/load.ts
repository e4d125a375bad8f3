import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { servicesOf } from "../services/served.js";
import { exchange } from "./exchange.js";
import type { ConnectOptions, Handle } from "./options.js";
import { connectRoutes } from "./router.js";

export interface Loaded {
  readonly routes: ReadonlyMap<string, UniversalHandler>;
  readonly exchange: typeof exchange;
}

/** All that needs Connect and the descriptors. */
export function loaded(handle: Handle, served: ConnectOptions): Loaded {
  return { routes: connectRoutes(servicesOf(served), handle, served.options), exchange };
}
