import { encodeMessage } from "../../../codec/mcpv1/index.js";
import { defaultTimeouts, Fault, grpcStatuses, lateHandshake } from "../../../core/index.js";
import type { Channel, Metadata, Status } from "../../../io/index.js";
import { header, SERVICE } from "../names.js";
import type { GrpcDialOptions } from "./options.js";

/** One empty call, which tells what the server understands. Throws a Fault if the answer takes longer than `handshakeMs`. */
export async function ping(
  channel: Channel,
  metadata: Metadata,
  options: GrpcDialOptions,
): Promise<{ isAnywirePeer: boolean; status: Status }> {
  const { handshakeMs = defaultTimeouts.handshakeMs } = options;
  const call = channel.call(`${SERVICE}Ping`, {
    metadata: { ...metadata, [header.twins]: "1", [header.method]: "ping" },
    deadline: Date.now() + handshakeMs,
  });
  const abort = (): void => call.cancel(new Fault("cancelled", "dialing was given up"));
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted === true) abort();
  try {
    void call.send(encodeMessage("PingRequest", {}, { twin: false }));
    call.done();
    const status = await call.status;
    if (status.code === grpcStatuses.deadline) throw lateHandshake(handshakeMs);
    const headers = await call.headers.catch((): Metadata => ({}));
    return { isAnywirePeer: headers[header.twins] !== undefined, status };
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}
