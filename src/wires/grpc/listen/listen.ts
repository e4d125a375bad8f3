import { type Address, Canceller, Fault, type Listener, type Service } from "../../../core/index.js";
import { type GrpcServer, grpcServer, httpHost, noCertificate, type ServerCall } from "../../../io/index.js";
import { placeOf } from "../address.js";
import { ConnectServer } from "../connect/index.js";
import { faultStatus } from "../faults.js";
import { SERVICE } from "../names.js";
import { standardServices } from "../services/index.js";
import { TUNNEL, tunnelService } from "../tunnel/listen.js";
import type { GrpcListenOptions } from "./options.js";
import { McpService } from "./service.js";

const DRAIN_MS = 5_000;

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
  const mcp = new McpService(service, options);
  const tunnel = tunnelService(service, options);
  const closing = new Canceller();
  const standard = standardServices({ options, tunnelOnly, closing });
  const handle = (call: ServerCall): void | Promise<void> => {
    if (call.path === TUNNEL) return tunnel.handle(call);
    if (!tunnelOnly && call.path.startsWith(SERVICE)) return mcp.handle(call);
    const answered = standard(call);
    if (answered === undefined) call.end(faultStatus(new Fault("unknown-method", `unknown method: ${call.path}`)));
    return answered;
  };
  const web = new ConnectServer(handle, { options, tunnelOnly, closing });
  const { limits, keepalive, gzip, onFault } = options;
  const server = grpcServer(handle, { messageBytes: limits?.messageBytes, keepalive, gzip, onFault });
  return {
    server,
    web,
    async close() {
      const ms = options.drainMs ?? DRAIN_MS;
      const reason = new Fault("unavailable", "the server is shutting down", { data: { reason: "closing" } });
      closing.fire(reason);
      const drained = Promise.all([server.close(ms), web.close(ms)]);
      tunnel.drain();
      await mcp.drain(reason, ms);
      await drained;
    },
  };
}

export async function listen(service: Service, address: Address, options: GrpcListenOptions): Promise<Listener> {
  const place = placeOf(address);
  const tunnelOnly = String(address).startsWith("tunnel+");
  const { tls, insecure } = options;
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
    request: (request, response) => void web.request(request, response),
    grpc: (stream, headers, raw) => server.stream(stream, headers, raw),
  });
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    host.stop();
    closing ??= end()
      .then(() => host.close())
      .then(ended);
    return closing;
  };
  const prefix = tunnelOnly ? "tunnel+" : "";
  const where =
    first === undefined
      ? `grpc+unix:${place.path}`
      : `${place.scheme}://${first.host.includes(":") ? `[${first.host}]` : first.host}:${host.port}`;
  return { address: `${prefix}${where}`, closed, close, [Symbol.asyncDispose]: close };
}
