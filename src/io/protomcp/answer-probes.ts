import { type MessageCodec, PROBE, probed } from "../../codec/bufmcpv1/index.js";
import type { IncomingRequest, Link, LinkMessage } from "../../codec/index.js";
import { eitherEncoding } from "./encodings.js";
import { withIncoming } from "./incoming.js";

/** A client's link, whose probes are answered here. With a codec its messages may be proto JSON. */
export function answersProbes(given: Link, codec?: MessageCodec): Link {
  const link = codec === undefined ? given : eitherEncoding(given, codec);
  return withIncoming(link, withoutProbes(link));
}

async function* withoutProbes(link: Link): AsyncGenerator<readonly LinkMessage[]> {
  for await (const batch of link.incoming) {
    if (!batch.some(isProbe)) {
      yield batch;
      continue;
    }
    for (const message of batch) if (isProbe(message)) await link.send({ jsonrpc: "2.0", id: message.id, result: probed });
    yield batch.filter((message) => !isProbe(message));
  }
}

function isProbe(message: LinkMessage): message is IncomingRequest {
  return message.kind === "request" && message.method === PROBE;
}
