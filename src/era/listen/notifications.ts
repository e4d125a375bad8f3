import { type IncomingNotification, namedCall } from "../../codec/index.js";
import { Canceller, type Context, Fault, type JsonObject, jsonText, RELEASE, requestMethods, toFault } from "../../core/index.js";
import { openEnvelope, senderOf, withoutOwn } from "../envelope.js";
import { anywireKeys } from "../keys.js";
import type { AnswerOptions } from "./answer-options.js";
import type { Calls } from "./calls.js";
import type { LegacyListen } from "./legacy.js";
import type { LinkClient } from "./link-client.js";
import { listOwner } from "./parking.js";

/** What a client's notification may affect on its link. */
export interface Notified extends Pick<AnswerOptions, "service" | "parking">, LinkClient {
  readonly calls: Calls;
  readonly legacy: LegacyListen;
  readonly onFault: (fault: Fault) => void;
  /** The relayed caller with that key has left. */
  forget(key: unknown): void;
}

/**
 * Takes a client's notification. Those that are not about the link go on to the service. Wait for the returned promise before the next
 * message.
 */
export function takeNotification(at: Notified, { method, params }: IncomingNotification): Promise<void> | undefined {
  switch (method) {
    case "notifications/cancelled": {
      const reason = typeof params["reason"] === "string" ? params["reason"] : "the client cancelled the call";
      const id = namedCall(params);
      // One that crossed the answer is of no open call, and is ignored, as MCP wants it.
      if (id !== undefined) at.calls.cancel(id, new Fault("cancelled", reason));
      else at.onFault(new Fault("invalid-request", `a cancellation that names no call: id ${jsonText(params["requestId"])}`));
      return undefined;
    }
    case anywireKeys.credit: {
      const id = namedCall(params);
      if (id !== undefined) at.calls.grant(id, Number(params["messages"]) || 0);
      return undefined;
    }
    case anywireKeys.gone:
      at.forget(params["key"]);
      return undefined;
    case RELEASE:
      void release(at, params);
      return undefined;
    case "notifications/progress":
      at.legacy.session?.asks.progress(params);
      return undefined;
    case "notifications/initialized":
      at.legacy.session?.start();
      return undefined;
    default:
      // A request without an id cannot be answered, and layers that check calls, such as filters and rate limits, would not see it.
      if (requestMethods.has(method)) {
        at.onFault(new Fault("invalid-request", `a request without an id: ${method}`));
        return undefined;
      }
      // The link waits for it, so that a client cannot flood a service that does not take notifications.
      return passOn(at, method, params);
  }
}

async function release(at: Notified, params: JsonObject): Promise<void> {
  const { identity, release: leave } = at.caller(undefined);
  const whose = listOwner(at.legacy.session === undefined ? "modern" : "legacy", identity);
  leave();
  const further = await at.parking.release(params, whose, at.principal);
  if (further !== undefined) await passOn(at, RELEASE, further);
}

async function passOn(at: Notified, method: string, params: JsonObject): Promise<void> {
  const envelope = openEnvelope(method, params);
  const { identity, release } = at.caller(envelope.caller);
  const client = senderOf(envelope, at.legacy.session?.client, identity);
  const trace = envelope.trace === undefined ? undefined : { trace: envelope.trace };
  const context: Context = { client, cancel: new Canceller(), progress: false, metadata: at.metadata, ...trace };
  try {
    // Passed on whole, with its `_meta`: nothing is added to a notification on its way out.
    await at.service.notify({ method, params: withoutOwn(params) }, context);
  } catch (error) {
    at.onFault(toFault(error));
  } finally {
    release();
  }
}
