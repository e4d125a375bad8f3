import type { Link } from "../../codec/index.js";
import {
  Canceller,
  type Connection,
  type Context,
  type DialOptions,
  type Era,
  Fault,
  limitsOf,
  newestVersions,
  noParams,
  toFault,
} from "../../core/index.js";
import { safeListener } from "../safe-listener.js";
import { linkWatch, observedAs } from "../watch/link-watch.js";
import { checkedBy } from "./check.js";
import { connection } from "./connection.js";
import { type EraVerdict, shakeHands } from "./handshake.js";
import { inTime } from "./in-time.js";
import { discovered, legacyDial } from "./legacy.js";
import { modernRules } from "./modern.js";
import { Peer } from "./peer.js";

/** Opens the peer of a link as a service: detects its era and makes the handshake. */
export async function dialLink(link: Link, given: DialOptions = {}): Promise<Connection> {
  const options = given.wire === undefined ? observedAs(given, "dial", "link") : given;
  const watch = linkWatch(options, { side: "dial" });
  watch?.upstream({ kind: "start" });
  const began = performance.now();
  const peer = new Peer(link, limitsOf(options.limits), safeListener(options.onFault), options.fanIn, watch);
  const abort = (): void => void peer.shut(new Fault("cancelled", "dialing was given up", { cause: options.signal?.reason }));
  options.signal?.addEventListener("abort", abort, { once: true });
  try {
    if (options.signal?.aborted === true) throw new Fault("cancelled", "dialing was given up");
    const made = await agree(peer, options);
    if (watch !== undefined) {
      const { era, protocolVersion } = made;
      watch.upstream({ kind: "ready", era, protocolVersion, milliseconds: performance.now() - began });
      void made.closed.then((reason) => watch.upstream({ kind: "exit", ...(reason === undefined ? undefined : { reason }) }));
    }
    return made;
  } catch (error) {
    const fault = peer.gone ?? toFault(error);
    watch?.upstream({ kind: "exit", reason: fault });
    await peer.shut(fault);
    throw fault;
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}

/** Gives up a peer that does not answer in time. */
async function agree(peer: Peer, options: DialOptions): Promise<Connection> {
  const { info, capabilities } = options.client ?? {};
  const context = (era: Era): Context => ({
    client: {
      identity: peer.self,
      era,
      protocolVersion: newestVersions[era],
      capabilities: capabilities ?? {},
      info: info ?? { name: "anywire", version: "0" },
    },
    cancel: new Canceller(),
    progress: false,
    metadata: {},
  });
  const made = shakeHands(peer, options, context).then(async (verdict) => {
    const check = checkedBy(peer, verdict.era, context, options);
    return { ...(await begin(peer, verdict, context)), check };
  });
  return inTime(made, options.handshakeMs);
}

async function begin(peer: Peer, { era, version, result }: EraVerdict, context: (era: Era) => Context): Promise<Connection> {
  if (era === "modern") {
    peer.rules = modernRules(peer);
    return connection(peer, { era, version, found: result });
  }
  const session = legacyDial(peer, result, (cancel) => ({ ...context("legacy"), cancel }));
  peer.rules = session.rules;
  // Before `initialized`, so that the session is ready for the server's first question.
  const made = connection(peer, { era, version, found: discovered(result), legacy: session });
  await peer.notify("notifications/initialized", noParams);
  return made;
}
