import { type Id, type Incoming, type Outgoing, parseMessage, serialise } from "../../src/codec/index.js";
import { type Link, sharedStream } from "../../src/era/index.js";
import type { SdkMessage, SdkTransport } from "../../src/sdk/index.js";
import { pipe } from "../../src/stream/index.js";

/** A transport as the link that it was, with JSON in between: what the SDK itself would have to say is left out. */
export async function transportLink(transport: SdkTransport): Promise<Link> {
  const incoming = pipe<readonly Incoming[]>({ items: Number.MAX_SAFE_INTEGER });
  /** Requests that were not answered: a server of the SDK says for which of them it sends a message. */
  const open = new Set<Id>();
  transport.onmessage = (message) => {
    const parsed = parseMessage(JSON.stringify(message), { depth: 256 });
    if (parsed.kind === "request") open.add(parsed.id);
    incoming.offer([parsed]);
  };
  transport.onclose = () => incoming.close();
  await transport.start();
  return {
    ...sharedStream,
    incoming,
    backlog: 0,
    async send(message: Outgoing) {
      for (const each of Array.isArray(message) ? message : [message]) {
        if (!("method" in each)) open.delete(each.id);
        const related = "method" in each && open.size === 1 ? { relatedRequestId: [...open][0] } : {};
        await transport.send(JSON.parse(serialise(each)) as SdkMessage, related);
      }
    },
    async close() {
      incoming.close();
      await transport.close();
    },
  };
}
