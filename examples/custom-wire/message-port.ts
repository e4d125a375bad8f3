import type { MessagePort } from "node:worker_threads";
import { defaultLimits, Fault, type Listener, type Wire } from "anywire";
import { type Incoming, parseMessage, serialise } from "anywire/codec";
import { dialLink, type Link, serveLink, sharedStream } from "anywire/era";
import { pipe } from "anywire/stream";

/** What travels through the port: a message, word that one was taken, or the end. */
type Parcel = { readonly text: string } | { readonly taken: number } | { readonly end: true };

/** Characters that may be under way before send() waits. */
const WINDOW = 256 * 1024;

/** A link of JSON-RPC messages over a message port. A port has no back pressure of its own, so what was taken is told. */
export function portLink(port: MessagePort): Link {
  const inbox = pipe<string>({ items: 100_000, bytes: 64 * WINDOW, size: (text) => text.length });
  const waiting = new Set<() => void>();
  let underWay = 0;
  let closed: Fault | undefined;

  const end = (reason: Fault): void => {
    closed ??= reason;
    inbox.close();
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const post = (parcel: Parcel): void => port.postMessage(parcel);
  port.on("message", (parcel: Parcel) => {
    if ("end" in parcel) return end(new Fault("unavailable", "the peer closed the port"));
    if ("text" in parcel) return void (inbox.offer(parcel.text) || end(new Fault("overload", "the peer does not keep to the window")));
    underWay -= parcel.taken;
    if (underWay >= WINDOW) return;
    for (const wake of waiting) wake();
    waiting.clear();
  });
  port.on("close", () => end(new Fault("unavailable", "the port was closed")));

  async function* incoming(): AsyncGenerator<readonly Incoming[]> {
    for await (const text of inbox) {
      post({ taken: text.length });
      yield [parseMessage(text, { depth: defaultLimits.depth })];
    }
  }

  return {
    ...sharedStream,
    incoming: incoming(),
    get backlog() {
      return underWay;
    },
    async send(message) {
      if (closed !== undefined) throw closed;
      const text = serialise(message);
      underWay += text.length;
      post({ text });
      if (underWay >= WINDOW) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    async close() {
      if (closed === undefined) post({ end: true });
      end(new Fault("unavailable", "the link was closed"));
      port.close();
    },
  };
}

/** The wire `port:` over one end of a message channel. */
export function portWire(port: MessagePort): Wire {
  return {
    name: "message port",
    accepts: (address) => address === "port:",
    async listen(service, _address, options): Promise<Listener> {
      const link = portLink(port);
      const closed = serveLink(service, link, options).catch((fault: Fault) => options.onFault?.(fault));
      const close = async (): Promise<void> => {
        await link.close();
        await closed;
      };
      return { address: "port:", closed, close, [Symbol.asyncDispose]: close };
    },
    dial: (_address, options) => dialLink(portLink(port), options),
  };
}
