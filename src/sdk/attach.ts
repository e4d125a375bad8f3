import type { ServeStdioOptions } from "@modelcontextprotocol/server/stdio";
import { type Connection, defaultLimits, type Era, Fault, type JsonObject, type Limits, toFault } from "../core/index.js";
import { dialLink } from "../era/index.js";
import { linkPair } from "../wires/memory/index.js";
import { liftAuthInfo } from "./auth-info.js";
import { linkTransport } from "./link-transport.js";
import { serverHooks } from "./server-hooks.js";
import type { SdkServer } from "./types.js";

export interface AttachOptions {
  readonly era: Era;
  /** The client that the server is told about. A modern server is told with every request. */
  readonly client: { readonly info?: JsonObject; readonly capabilities: JsonObject };
  readonly limits?: Partial<Limits> | undefined;
  readonly onFault?: ((fault: Fault) => void) | undefined;
}

/** Opens a server of the SDK as a service, within this process. Closing the connection closes the server. */
export async function attach(server: SdkServer, { era, client, limits, onFault }: AttachOptions): Promise<Connection> {
  const [near, far] = linkPair();
  const transport = linkTransport(far, serverHooks(limits?.callBytes ?? defaultLimits.callBytes));
  transport.onerror = (error) => onFault?.(toFault(error));
  if (era === "legacy") {
    await server.connect(transport);
    liftAuthInfo(transport);
  } else {
    await connectModern(server, { transport, maxSubscriptions: limits?.inFlight ?? defaultLimits.inFlight, onerror: transport.onerror });
  }
  const connection = await dialLink(near, { era, client, limits, onFault });
  const closed = connection.closed.then(async (reason) => {
    await server.close().catch((error) => onFault?.(toFault(error)));
    return reason;
  });
  // A server that is to be connected again must have released its transport first.
  const close = async (): Promise<void> => {
    await connection.close();
    await closed;
  };
  return { ...connection, closed, close, [Symbol.asyncDispose]: close };
}

/** `connect` alone serves only the legacy era. The SDK's entry for stdio serves both, on any transport. */
async function connectModern(server: SdkServer, options: ServeStdioOptions): Promise<void> {
  const sdk = await modernSdk();
  if (sdk === undefined) throw new Fault("internal", "@modelcontextprotocol/server is not installed");
  const own = Object.hasOwn(server, "connect");
  const connect = server.connect;
  // The entry does not pass on auth info, so it is taken from the channel that the entry connects the server to, this once.
  server.connect = async (channel) => {
    if (own) server.connect = connect;
    else Reflect.deleteProperty(server, "connect");
    await connect.call(server, channel);
    liftAuthInfo(channel);
  };
  sdk.serveStdio(() => server as InstanceType<typeof sdk.McpServer>, options);
}

/** Whether a server can serve the modern era: one of v2, made by the copy of the package that is found from here. */
export async function speaksModern(server: SdkServer): Promise<boolean> {
  const sdk = await modernSdk();
  return sdk !== undefined && (server instanceof sdk.McpServer || server instanceof sdk.Server);
}

type ModernSdk = Pick<typeof import("@modelcontextprotocol/server"), "McpServer" | "Server"> &
  Pick<typeof import("@modelcontextprotocol/server/stdio"), "serveStdio">;

let loading: Promise<ModernSdk | undefined> | undefined;

function modernSdk(): Promise<ModernSdk | undefined> {
  loading ??= Promise.all([import("@modelcontextprotocol/server"), import("@modelcontextprotocol/server/stdio")]).then(
    ([{ McpServer, Server }, { serveStdio }]) => ({ McpServer, Server, serveStdio }),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_MODULE_NOT_FOUND") return undefined;
      throw error;
    },
  );
  return loading;
}
