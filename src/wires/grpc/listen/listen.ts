import {
  type Address,
  Canceller,
  closingFault,
  DRAIN_MS,
  defaultLimits,
  Fault,
  type Listener,
  listenerOf,
  type Service,
} from "../../../core/index.js";
import { Parking } from "../../../era/index.js";
import { type GrpcServer, grpcServer, httpHost, noCertificate, type ServerCall } from "../../../io/index.js";
import { placeOf } from "../address.js";
import { ConnectServer } from "../connect/index.js";
import { faultStatus } from "../faults.js";
import { SERVICE } from "../names.js";
import { standardServices } from "../services/index.js";
import { TUNNEL, tunnelService } from "../tunnel/listen.js";
import type { GrpcListenOptions } from "./options.js";
import { McpService } from "./service.js";

/** Milliseconds for the last answers of streams that drain by themselves. */
const LAST_MS = 250;

/** What a listener serves, whoever accepts its connections. */
export interface Served {
  readonly server: GrpcServer;
  /** Takes what is no gRPC. */
  readonly web: ConnectServer;
  /** Ends what is open: calls in flight have a moment to finish. */
  close(): Promise<void>;
}

/** Both dialects on one server; `tunnel` alone where that was listened for. */
export function grpcService(service: Service, options: GrpcListenOptions, tunnelOnly: boolean): Served {
  // A client may come back for what is parked on another connection, and by another RPC.
  const parking = new Parking(service, { ...defaultLimits, ...options.limits });
  const mcp = new McpService(service, options, parking);
  const closing = new Canceller();
  const tunnel = tunnelService(service, options, { closing, parking });
  const standard = standardServices({ options, tunnelOnly, closing });
  const handle = (call: ServerCall): void | Promise<void> => {
    if (call.path === TUNNEL) return tunnel(call);
    if (!tunnelOnly && call.path.startsWith(SERVICE)) return mcp.handle(call);
    const answered = standard(call);
    if (answered === undefined) call.end(faultStatus(new Fault("unknown-method", `unknown method: ${call.path}`)));
    return answered;
  };
  const web = new ConnectServer(handle, { options, tunnelOnly, closing });
  const { limits, keepalive, gzip, acceptGzip, onFault } = options;
  const server = grpcServer(handle, { messageBytes: limits?.messageBytes, limits, keepalive, gzip, acceptGzip, onFault });
  return {
    server,
    web,
    async close() {
      const ms = options.drainMs ?? DRAIN_MS;
      const reason = closingFault();
      closing.fire(reason);
      await Promise.all([server.close(ms + LAST_MS), web.close(ms + LAST_MS), mcp.drain(reason, ms)]);
      parking.clear();
    },
  };
}

export async function listen(service: Service, address: Address, options: GrpcListenOptions): Promise<Listener> {
  const place = placeOf(address);
  const tunnelOnly = String(address).startsWith("tunnel+");
  const { tls, insecure, auth } = options;
  if (place.scheme === "grpcs" && tls === undefined) throw noCertificate(place.scheme);
  if (place.scheme !== "grpcs" && tls !== undefined) throw new Fault("invalid-params", "a listener with a certificate is grpcs://");
  const [first, ...more] = place.hosts;
  if (more.length > 0) throw new Fault("invalid-params", "a listener has one address");
  const { server, web, close: end } = grpcService(service, options, tunnelOnly);
  const host = await httpHost({
    hostname: first?.host ?? "",
    port: first?.port ?? 0,
    path: place.path,
    tls,
    insecure,
    auth,
    limits: options.limits,
    request: (request, response) => void web.request(request, response),
    grpc: (stream, headers, raw) => server.stream(stream, headers, raw),
  });
  const prefix = tunnelOnly ? "tunnel+" : "";
  const where =
    first === undefined
      ? `grpc+unix:${place.path}`
      : `${place.scheme}://${first.host.includes(":") ? `[${first.host}]` : first.host}:${host.port}`;
  return listenerOf(`${prefix}${where}`, async () => {
    host.stop();
    await end();
    await host.close();
  });
}
