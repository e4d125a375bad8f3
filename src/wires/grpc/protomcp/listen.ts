import { MessageCodec } from "../../../codec/bufmcpv1/index.js";
import { defaultLimits, type Fault, type Service, toFault } from "../../../core/index.js";
import { type Link, type ServeLinkOptions, serveLink } from "../../../era/index.js";
import { answersProbes, type ServerCall } from "../../../io/index.js";
import { until } from "../../../stream/index.js";
import { mcpStatus } from "../faults.js";
import { callerOf, type RpcCaller } from "../listen/caller.js";
import type { GrpcListenOptions } from "../listen/options.js";
import type { TunnelHost } from "../tunnel/listen.js";
import { sessionLink } from "./link.js";
import { SESSION } from "./rpcs.js";
import { answerUnary } from "./unary.js";

export { PROTO } from "./rpcs.js";

/** Serves `buf.mcp.v1.MCPService`: a `Session` is a link of either era, and each unary RPC is a separate call. Never rejects. */
export function protoService(service: Service, options: GrpcListenOptions, host: TunnelHost): (call: ServerCall) => Promise<void> {
  const limits = { ...defaultLimits, ...options.limits };

  const linkOptions = (call: ServerCall, { principal, remote, metadata, credentials }: RpcCaller): ServeLinkOptions => {
    const { eras, onFault, pageSize, drainMs, observe } = options;
    const common = { limits: options.limits, eras, onFault, pageSize, drainMs, observe, wire: "proto-grpc", account: call.account };
    return { ...common, closing: host.closing, parking: host.parking, remote, metadata, principal, credentials };
  };
  const session = async (call: ServerCall, caller: RpcCaller): Promise<void> => {
    call.begin();
    const closed = new AbortController();
    let left: Fault | undefined;
    const link = sessionLink(call, new MessageCodec(limits), (reason) => {
      left = reason;
      closed.abort();
    });
    const gone = new Promise<never>((_resolve, reject) => call.cancel.on(() => reject(call.cancel.reason)));
    gone.catch(() => {});
    const ending: Link = {
      ...link,
      incoming: until(link.incoming, closed.signal),
      get backlog() {
        return link.backlog;
      },
    };
    await Promise.race([serveLink(service, answersProbes(ending), linkOptions(call, caller)), gone]);
    if (left?.code === "unauthenticated") throw left;
  };

  return async (call) => {
    try {
      const caller = await callerOf(call, options);
      if (call.path === SESSION) await session(call, caller);
      else await answerUnary(call, (link) => serveLink(service, link, linkOptions(call, caller)), options);
      call.end({ code: 0 });
    } catch (error) {
      call.end(mcpStatus(toFault(error)));
    }
  };
}
