import { CAPABILITIES } from "../codec/bufmcpv1/index.js";
import {
  type Connection,
  type Context,
  type DialOptions,
  guard,
  isObject,
  type Layer,
  layeredConnection,
  neverCancelled,
  type Request,
  resultOf,
  type Service,
  type Wire,
} from "../core/index.js";
import type { SchemaStore } from "../schema/index.js";

export interface BaseToolsDialOptions extends DialOptions {
  /** Of a server of proto-mcp 1.0: where the references of its tools are looked up. Without it, it is asked for its descriptors. */
  readonly schemas?: SchemaStore | undefined;
}

/** A wire of proto-mcp whose servers of the base are spoken to in JSON. What makes that of their descriptors is loaded with the first list or call. */
export function withBaseTools(wire: Wire): Wire {
  return {
    name: wire.name,
    accepts: (address) => wire.accepts(address),
    listen: (service, address, options) => wire.listen(service, address, options),
    async dial(address, options: BaseToolsDialOptions): Promise<Connection> {
      const connection = await wire.dial(address, options);
      return connection.era === "modern" ? connection : layeredConnection(connection, onDemand(options.schemas));
    },
  };
}

function onDemand(store: SchemaStore | undefined): Layer {
  return (inner) => {
    let made: Promise<Service> | undefined;
    const make = async (context: Context): Promise<Service> =>
      (await isBase(inner, context)) ? (await import("../schema/index.js")).baseTools({ store })(inner) : inner;
    return {
      notify: (notification, context) => inner.notify(notification, context),
      call(request, context) {
        if (!isForTools(request)) return inner.call(request, context);
        return guard(async function* (within) {
          // The answer is for all callers, so it does not end with the first.
          made ??= make({ ...within, cancel: neverCancelled }).catch((error) => {
            made = undefined;
            throw error;
          });
          yield* (await made).call(request, within);
          return undefined;
        }, context);
      },
    };
  };
}

function isForTools({ method }: Request): boolean {
  return method === "tools/list" || method === "tools/call";
}

/** Only a server of the base is known by the capabilities of proto-mcp alone. */
async function isBase(service: Service, context: Context): Promise<boolean> {
  const { _meta } = await resultOf(service.call({ method: "server/discover", params: {} }, context));
  return isObject(_meta) && CAPABILITIES in _meta;
}
