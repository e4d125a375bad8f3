import { MessageCodec } from "../../../codec/bufmcpv1/index.js";
import { type Fault, isCredential, limitsOf, type Service, toFault } from "../../../core/index.js";
import { type Link, type ServeLinkOptions, serveLink } from "../../../era/index.js";
import { admitByToken, answersProbes, checksTokens, type ServerCall } from "../../../io/index.js";
import { until } from "../../../stream/index.js";
import { mcpStatus } from "../faults.js";
import { callerOf, type RpcCaller } from "../listen/caller.js";
import type { GrpcListenOptions } from "../listen/options.js";
import { streamLink } from "../stream-link.js";
import type { TunnelHost } from "../tunnel/listen.js";
import { SESSION } from "./rpcs.js";
import { answerUnary } from "./unary.js";

export { PROTO } from "./rpcs.js";

/** Serves `buf.mcp.v1.MCPService`: a `Session` is a link of either era, and each unary RPC is a separate call. Never rejects. */
export function protoService(service: Service, options: GrpcListenOptions, host: TunnelHost): (call: ServerCall) => Promise<void> {
  const limits = limitsOf(options.limits);
  const watched = { auth: options.auth, observe: options.observe, wire: "proto-grpc" };

  const linkOptions = (call: ServerCall, { principal, remote, metadata, credentials }: RpcCaller): ServeLinkOptions => {
    const { eras, onFault, pageSize, drainMs, observe } = options;
    const common = { limits: options.limits, eras, onFault, pageSize, drainMs, observe, wire: "proto-grpc", account: call.account };
    return { ...common, closing: host.closing, parking: host.parking, remote, metadata, principal, credentials };
  };
  const session = async (call: ServerCall, caller: RpcCaller): Promise<void> => {
    call.begin();
    const closed = new AbortController();
    let left: Fault | undefined;
    const link = streamLink(call, new MessageCodec(limits), (reason) => {
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
    const checked = checksTokens(answersProbes(ending), { ...watched, principal: caller.principal });
    await Promise.race([serveLink(service, checked, linkOptions(call, caller)), gone]);
    if (left?.code === "unauthenticated") throw left;
  };

  /** A call without credentials in its headers may have them in its message. */
  const unary = async (call: ServerCall): Promise<void> => {
    const { auth } = options;
    const names = Object.keys(call.metadata);
    const inMessage = auth !== undefined && options.trustedProxy === undefined && !("admitted" in call) && !names.some(isCredential);
    const caller = await callerOf(call, inMessage ? { ...options, auth: undefined } : options);
    const serve = async (link: Link): Promise<void> => {
      if (!inMessage) return serveLink(service, checksTokens(link, { ...watched, principal: caller.principal }), linkOptions(call, caller));
      const admitted = await admitByToken(link, { ...watched, auth });
      if (admitted === undefined) return;
      call.claim?.(admitted.principal);
      await serveLink(service, admitted.link, linkOptions(call, { ...caller, ...admitted }));
    };
    await answerUnary(call, serve, options);
  };

  return async (call) => {
    try {
      if (call.path === SESSION) await session(call, await callerOf(call, options));
      else await unary(call);
      call.end({ code: 0 });
    } catch (error) {
      call.end(mcpStatus(toFault(error)));
    }
  };
}
