import { PROBE, probed } from "../../codec/bufmcpv1/index.js";
import type { Incoming, IncomingPart, Link } from "../../codec/index.js";

type Batch = readonly (Incoming | IncomingPart)[];

/** The link of a client. Probes are answered here and not passed on. */
export function answersProbes(link: Link): Link {
  return {
    ...link,
    incoming: withoutProbes(link),
    get backlog() {
      return link.backlog;
    },
  };
}

async function* withoutProbes(link: Link): AsyncGenerator<Batch> {
  for await (const batch of link.incoming) {
    if (!batch.some(isProbe)) {
      yield batch;
      continue;
    }
    for (const message of batch) if (isProbe(message)) await link.send({ jsonrpc: "2.0", id: message.id, result: probed });
    yield batch.filter((message) => !isProbe(message));
  }
}

function isProbe(message: Batch[number]): message is Extract<Incoming, { kind: "request" }> {
  return message.kind === "request" && message.method === PROBE;
}
