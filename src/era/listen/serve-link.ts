import type { Link } from "../../codec/index.js";
import { closingFault, defaultTimeouts, Fault, fixedTimeouts, type Service, toFault } from "../../core/index.js";
import { linkWatch, observedAs } from "../watch/link-watch.js";
import { LinkServer } from "./link-server.js";
import type { ServeLinkOptions } from "./options.js";
import type { AnswerOutlet, Serving } from "./serving.js";
import { ServingWatch, WatchedOutlet, WatchedServing } from "./watched.js";

/** Serves a wire that hands over its messages one by one. */
export function serving(service: Service, link: AnswerOutlet, options: ServeLinkOptions = {}): Serving {
  const server = linkServer(service, link, options);
  return server.watch === undefined ? server : new WatchedServing(server, server.watch);
}

/** Serves a peer of either era on a link until the link ends. Rejects with the fault that broke it. */
export async function serveLink(service: Service, link: Link, options: ServeLinkOptions = {}): Promise<void> {
  const server = linkServer(service, link, options);
  const { closing, credentials, drainMs = defaultTimeouts.drainMs } = options;
  const leave = (reason: Fault): void => void server.drain(reason, drainMs).then(() => link.close(reason));
  const unhook = closing?.on(() => leave(closing.reason ?? closingFault()));
  const unwatch = credentials?.(leave);
  let broken: Fault | undefined;
  try {
    for await (const batch of link.incoming) {
      for (const message of batch) {
        server.watch?.link.received(message);
        const waiting = message.kind === "part" ? undefined : server.take(message);
        if (waiting !== undefined) await waiting;
      }
    }
    // A client that closed its side may still read, so calls that are nearly done are answered.
    await server.idle(fixedTimeouts.halfClosedMs);
  } catch (error) {
    broken = toFault(error);
    await server.lastWords(broken);
  }
  unhook?.();
  unwatch?.();
  server.end(broken ?? new Fault("unavailable", "the client closed the link", { data: { reason: "closed" } }));
  await link.close();
  if (broken !== undefined) throw broken;
}

function linkServer(service: Service, link: AnswerOutlet, given: ServeLinkOptions): LinkServer {
  const options = given.wire === undefined ? observedAs(given, "listen", "link") : given;
  const seen = linkWatch(options, { side: "listen" });
  if (seen === undefined) return new LinkServer(service, link, options);
  const watch = new ServingWatch(seen);
  const server = new LinkServer(service, new WatchedOutlet(link, watch), options, watch);
  const { identity } = server.caller(undefined);
  if (identity.span !== "call") seen.at = { side: seen.at.side, wire: seen.at.wire, identity: identity.key };
  return server;
}
