import { encodeMessage } from "../../../codec/mcpv1/index.js";
import { defaultTimeouts, Fault } from "../../../core/index.js";
import type { Channel, Metadata, Status } from "../../../io/index.js";
import { header, SERVICE } from "../names.js";
import type { GrpcDialOptions } from "./options.js";

/** One empty call, which tells what the server understands. */
export async function ping(
  channel: Channel,
  metadata: Metadata,
  options: GrpcDialOptions,
): Promise<{ isAnywirePeer: boolean; status: Status }> {
  const call = channel.call(`${SERVICE}Ping`, {
    metadata: { ...metadata, [header.twins]: "1", [header.method]: "ping" },
    deadline: Date.now() + (options.handshakeMs ?? defaultTimeouts.handshakeMs),
  });
  const abort = (): void => call.cancel(new Fault("cancelled", "dialing was given up"));
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted === true) abort();
  try {
    void call.send(encodeMessage("PingRequest", {}, { twin: false }));
    call.done();
    const status = await call.status;
    const headers = await call.headers.catch((): Metadata => ({}));
    return { isAnywirePeer: headers[header.twins] !== undefined, status };
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}
