import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, type ListenAddress, type Listener } from "../../core/index.js";
import {
  admit,
  type GateOptions,
  type Mount,
  type NodeRequest,
  type NodeResponse,
  nodeExchange,
  type PortOptions,
  placeOf,
  port,
  portListener,
} from "../../io/index.js";
import { registryRequestBytes } from "../limits.js";
import { type ServedModules, servedModules } from "./modules.js";

export interface RegistryServeOptions extends GateOptions, Pick<PortOptions, "tls" | "insecure"> {
  readonly auth?: GateOptions["auth"];
  /** Called for files that are not descriptors. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
}

/** Serves a folder of descriptor sets, `owner/repository/label.binpb`, as a registry at an http or https address. */
export async function serveRegistry(folder: string, address: string, options: RegistryServeOptions = {}): Promise<Listener> {
  if (!/^https?:\/\//.test(address))
    throw new Fault("invalid-params", `${JSON.stringify(address)} is not an address for a registry: one looks like http://127.0.0.1:8000`);
  const { carrier } = placeOf(address, "/", options);
  return portListener(await port(carrier, [registryMount(folder, options)], options));
}

/** The same as a mount, for a port that has others too. */
export function registryMount(folder: string, options: RegistryServeOptions = {}): Mount {
  const modules = servedModules(folder, options.onFault ?? (() => {}));
  // Loaded with the first request: most programs that use schemas serve none.
  let handler: ReturnType<typeof handlerOf> | undefined;
  return {
    wire: "registry",
    claims: (path) => /^\/buf\.(?:registry|alpha|reflect)\./.test(path),
    addresses: ({ secure, authority }): ListenAddress[] => [{ wire: "registry", address: `http${secure ? "s" : ""}://${authority}` }],
    request(request, response) {
      const exchange = nodeExchange(request, response);
      void admit(exchange, options, exchange.path).then(async (admission) => {
        if ("status" in admission) return exchange.reply(admission.status, admission.headers, admission.text);
        handler ??= handlerOf(modules);
        (await handler)(request, response);
      });
    },
  };
}

async function handlerOf(modules: ServedModules): Promise<(request: NodeRequest, response: NodeResponse) => void> {
  const [{ connectNodeAdapter }, { registryRoutes }] = await Promise.all([import("@connectrpc/connect-node"), import("./routes.js")]);
  const handle = connectNodeAdapter({ routes: registryRoutes(modules), readMaxBytes: registryRequestBytes });
  // The two HTTP versions declare the same calls in types that cannot be joined.
  return (request, response) => handle(request as IncomingMessage, response as ServerResponse);
}
