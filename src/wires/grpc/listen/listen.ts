import {
  type Address,
  Canceller,
  closingFault,
  defaultTimeouts,
  Fault,
  fixedTimeouts,
  type Listener,
  limitsOf,
  type Service,
} from "../../../core/index.js";
import { observedAs, Parking } from "../../../era/index.js";
import { type GrpcServer, grpcServer, type Mount, noCertificate, port, portListener, type ServerCall } from "../../../io/index.js";
import { grpcPlaceOf } from "../address.js";
import { ConnectServer } from "../connect/index.js";
import { mcpStatus } from "../faults.js";
import { SERVICE } from "../names.js";
import { PROTO, protoService } from "../protomcp/listen.js";
import { standardServices } from "../services/index.js";
import { tunnelPaths, tunnelService } from "../tunnel/listen.js";
import type { GrpcListenOptions } from "./options.js";
import { McpService } from "./service.js";

/** The services of a listener, whoever accepts its connections. */
export interface ServedByGrpc {
  readonly server: GrpcServer;
  /** Takes requests that are not gRPC. */
  readonly web: ConnectServer;
  /** Ends what is open. Calls in flight have a moment to finish. */
  close(): Promise<void>;
}

/** All dialects on one server, or only the tunnel. */
export function grpcService(service: Service, options: GrpcListenOptions, tunnelOnly: boolean): ServedByGrpc {
  // A client may come back for a parked call on another connection, and with another RPC.
  const parking = new Parking(service, limitsOf(options.limits), options.sealKey);
  const mcp = new McpService(service, options, parking);
  const closing = new Canceller();
  const tunnels = tunnelPaths(options);
  const tunnel = tunnelService(service, options, { closing, parking });
  const proto = protoService(service, options, { closing, parking });
  const standard = standardServices({ options, tunnelOnly, closing });
  const handle = (call: ServerCall): void | Promise<void> => {
    if (tunnels.has(call.path)) return tunnel(call);
    if (!tunnelOnly && call.path.startsWith(SERVICE)) return mcp.handle(call);
    if (!tunnelOnly && call.path.startsWith(PROTO)) return proto(call);
    const answered = standard(call);
    if (answered === undefined) call.end(mcpStatus(new Fault("unknown-method", `unknown method: ${call.path}`)));
    return answered;
  };
  const web = new ConnectServer(handle, { options, tunnelOnly, closing });
  const { limits, keepalive, gzip, acceptGzip, onFault } = options;
  const server = grpcServer(handle, { messageBytes: limits?.messageBytes, limits, keepalive, gzip, acceptGzip, onFault });
  return {
    server,
    web,
    async close() {
      const ms = options.drainMs ?? defaultTimeouts.drainMs;
      const reason = closingFault();
      closing.fire(reason);
      // Streams drain by themselves. Then their last answers are sent.
      const graceMs = ms + fixedTimeouts.lastAnswersMs;
      await Promise.all([server.close(graceMs), web.close(graceMs), mcp.drain(reason, ms)]);
      parking.clear();
    },
  };
}

export interface GrpcMountOptions {
  /** Whether only the tunnel is served, without `mcp.v1` and `buf.mcp.v1`. */
  readonly tunnelOnly?: boolean | undefined;
}

/** gRPC, gRPC-Web and Connect on a port. */
export function grpcMount(service: Service, given: GrpcListenOptions, { tunnelOnly = false }: GrpcMountOptions = {}): Mount {
  const { server, web, close } = grpcService(service, observedAs(given, "listen", "grpc"), tunnelOnly);
  const services = [SERVICE, PROTO, "/grpc.", ...[...tunnelPaths(given)].map((path) => path.replace(/[^/]*$/, ""))];
  return {
    wire: "grpc",
    addresses({ secure, authority, path }) {
      const at = path === undefined ? `grpc${secure ? "s" : ""}://${authority}` : `grpc+unix:${path}`;
      const tunnel = { wire: "tunnel", address: `tunnel+${at}` };
      return tunnelOnly ? [tunnel] : [{ wire: "grpc", address: at }, tunnel, { wire: "proto-grpc", address: `proto+${at}` }];
    },
    claims: (path) => services.some((prefix) => path.startsWith(prefix)),
    request: (request, response) => void web.request(request, response),
    rpc: (stream, headers, raw) => server.stream(stream, headers, raw),
    close,
  };
}

export async function listenGrpc(service: Service, address: Address, options: GrpcListenOptions): Promise<Listener> {
  const place = grpcPlaceOf(address);
  const { tls } = options;
  if (place.scheme === "grpcs" && tls === undefined) throw noCertificate(place.scheme);
  if (place.scheme !== "grpcs" && tls !== undefined) throw new Fault("invalid-params", "a listener with a certificate is grpcs://");
  const [first, ...more] = place.hosts;
  if (more.length > 0) throw new Fault("invalid-params", "a listener has one address");
  const mount = grpcMount(service, options, { tunnelOnly: String(address).startsWith("tunnel+") });
  const opened = await port(first ?? { path: place.path ?? "" }, [mount], options);
  const asked = opened.addresses.find((each) => String(address).startsWith("proto+") && each.wire === "proto-grpc");
  return portListener(opened, asked?.address);
}
