import { defaultLimits, Fault, type Service, toFault } from "../../../core/index.js";
import { serveLink } from "../../../era/index.js";
import type { ServerCall } from "../../../io/index.js";
import { faultStatus } from "../faults.js";
import { callerOf } from "../listen/caller.js";
import type { GrpcListenOptions } from "../listen/options.js";
import { checkMirror } from "../mirror.js";
import { tunnelLink } from "./link.js";

export const TUNNEL = "/MCP/Call";

/** Serves the tunnel: one stream is one link, of either era. */
export function tunnelService(service: Service, options: GrpcListenOptions): (call: ServerCall) => Promise<void> {
  const limits = { ...defaultLimits, ...options.limits };
  return async (call) => {
    try {
      const { principal, metadata } = await callerOf(call, options);
      call.begin();
      const link = tunnelLink(call, limits, () => {});
      const { eras, onFault, pageSize } = options;
      let first = true;
      const checked = {
        ...link,
        get backlog() {
          return link.backlog;
        },
        // What routers were told is about the message that opened the stream.
        incoming: (async function* () {
          for await (const batch of link.incoming) {
            const [opening] = batch;
            if (first && opening?.kind === "request") checkMirror(metadata, opening.method, opening.params);
            first = false;
            yield batch;
          }
        })(),
      };
      const gone = new Promise<never>((_resolve, reject) => call.cancel.on(() => reject(call.cancel.reason)));
      gone.catch(() => {});
      await Promise.race([
        serveLink(service, checked, {
          limits: options.limits,
          eras,
          onFault,
          pageSize,
          metadata,
          ...(principal === undefined ? undefined : { principal }),
        }),
        gone,
      ]);
      call.end({ code: 0 });
    } catch (error) {
      const fault = toFault(error);
      call.end(faultStatus(fault instanceof Fault ? fault : toFault(fault)));
    }
  };
}
