import type { Incoming } from "../../../codec/index.js";
import { type Cancel, type Fault, limitsOf, type Service, toFault } from "../../../core/index.js";
import { type Parking, serveLink } from "../../../era/index.js";
import type { ServerCall } from "../../../io/index.js";
import { until } from "../../../stream/index.js";
import { mcpStatus } from "../faults.js";
import { callerOf, type RpcCaller } from "../listen/caller.js";
import type { GrpcListenOptions } from "../listen/options.js";
import { TURN, turn } from "../listen/turns.js";
import { checkMirror } from "../mirror.js";
import { TUNNELS } from "../names.js";
import { streamLink } from "../stream-link.js";
import { checkTunnelPath, tunnelCodec } from "./codec.js";

/** What a tunnel needs from its listener. */
export interface TunnelHost {
  /** When it fires, every stream is drained. */
  readonly closing: Cancel;
  readonly parking: Parking;
}

/** The paths under which a listener answers as the tunnel. */
export function tunnelPaths({ tunnelPaths = [] }: GrpcListenOptions): ReadonlySet<string> {
  for (const path of tunnelPaths) checkTunnelPath(path);
  return new Set([...TUNNELS, ...tunnelPaths]);
}

/** Serves the tunnel: each stream is a link, of either era. Never rejects. */
export function tunnelService(
  service: Service,
  options: GrpcListenOptions,
  { closing, parking }: TunnelHost,
): (call: ServerCall) => Promise<void> {
  const limits = limitsOf(options.limits);

  const serve = async (call: ServerCall, { principal, remote, metadata, credentials }: RpcCaller): Promise<void> => {
    const { eras, onFault, pageSize, drainMs, observe } = options;
    const closed = new AbortController();
    let left: Fault | undefined;
    const link = streamLink(call, tunnelCodec(limits), (reason) => {
      left = reason;
      closed.abort();
    });
    const gone = new Promise<never>((_resolve, reject) => call.cancel.on(() => reject(call.cancel.reason)));
    gone.catch(() => {});
    const served = serveLink(
      service,
      {
        ...link,
        incoming: until(checked(link.incoming as AsyncIterable<readonly Incoming[]>, metadata), closed.signal),
        get backlog() {
          return link.backlog;
        },
      },
      {
        limits: options.limits,
        eras,
        onFault,
        pageSize,
        drainMs,
        closing,
        parking,
        remote,
        observe,
        wire: "tunnel",
        metadata,
        principal,
        credentials,
        account: call.account,
      },
    );
    await Promise.race([served, gone]);
    if (left?.code === "unauthenticated") throw left;
  };

  return async (call) => {
    try {
      const caller = await callerOf(call, options);
      call.begin();
      await serve(call, caller);
      call.end({ code: 0 });
    } catch (error) {
      call.end(mcpStatus(toFault(error)));
    }
  };
}

/** Checks the metadata against the message that opened the stream, which it describes. */
async function* checked(
  incoming: AsyncIterable<readonly Incoming[]>,
  metadata: RpcCaller["metadata"],
): AsyncGenerator<readonly Incoming[]> {
  let first = true;
  for await (const batch of incoming) {
    const [opening] = batch;
    if (first && opening?.kind === "request") checkMirror(metadata, opening.method, opening.params);
    first = false;
    yield batch.length > TURN ? batch.slice(0, TURN) : batch;
    for (let at = TURN; at < batch.length; at += TURN) {
      await turn();
      yield batch.slice(at, at + TURN);
    }
  }
}
