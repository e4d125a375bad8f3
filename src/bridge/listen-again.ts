import {
  type Context,
  type Fault,
  fixedTimeouts,
  guard,
  isObject,
  type JsonObject,
  type NoteReply,
  type Replies,
  type Reply,
  type Request,
  resultOf,
  toFault,
} from "../core/index.js";
import { isOtherEra, newsOfListen, newsOfSession } from "../era/index.js";
import { Backoff } from "../stream/index.js";
import { pause } from "./pause.js";

/** A stream that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

export interface ListenAgain {
  open(request: Request, context: Context): Replies;
  /** Whether there will be no next session. */
  over(): boolean;
  /** Milliseconds in which the server has to accept a subscription to resources. A legacy client waits for that. */
  readonly waitMs: number;
}

/**
 * A listening call on the current session with the server. When its session has ended for good, it is made again on the next. The second
 * acknowledgement becomes notifications of what may have changed meanwhile. So do the lists of a server whose changes come without one.
 */
export function listenAgain({ open, over, waitMs }: ListenAgain, request: Request, context: Context): Replies {
  return guard(async function* (inner) {
    const backoff = new Backoff<Fault>();
    const { notifications } = request.params;
    const awaited = context.client.era === "legacy" && isObject(notifications) && notifications["resourceSubscriptions"] !== undefined;
    const until = awaited ? Date.now() + waitMs : Number.POSITIVE_INFINITY;
    let accepted = false;
    for (let first = true; ; first = false) {
      const since = Date.now();
      try {
        if (!first && request.params["changes"] === true) {
          const { capabilities } = await resultOf(open({ method: "server/discover", params: {} }, inner));
          for (const { method, params } of newsOfSession(isObject(capabilities) ? capabilities : {}, []))
            yield { kind: "note", method, params };
        }
        for await (const reply of open(request, inner)) {
          if (reply.kind === "result") return reply.value;
          const acknowledges = reply.kind === "note" && reply.method === ACKNOWLEDGED;
          if (acknowledges && accepted) yield* news(reply.params);
          else yield reply;
          accepted ||= acknowledges;
        }
      } catch (error) {
        const fault = toFault(error);
        if (inner.cancel.fired || fault.code !== "unavailable" || over()) throw fault;
        if (!accepted && Date.now() >= until) throw fault;
        if (Date.now() - since >= LASTED_MS) backoff.reset();
        backoff.failed(fault);
      }
      await pause(accepted ? backoff.wait : Math.min(backoff.wait, Math.max(0, until - Date.now())), inner.cancel);
      if (inner.cancel.fired) return {};
    }
  }, context);
}

/** A call that is made once more if it was not sent because its server came back in another era. */
export function onNextSession(open: (context: Context) => Replies, context: Context): Replies {
  return guard(async function* (inner) {
    try {
      return yield* resultAfter(open(inner));
    } catch (error) {
      if (inner.cancel.fired || !isOtherEra(toFault(error))) throw error;
    }
    return yield* resultAfter(open(inner));
  }, context);
}

async function* resultAfter(replies: Replies): AsyncGenerator<Reply, JsonObject | undefined> {
  for await (const reply of replies) {
    if (reply.kind === "result") return reply.value;
    yield reply;
  }
  return undefined;
}

function news(acknowledged: JsonObject): NoteReply[] {
  return newsOfListen(0, acknowledged).map(({ method, params: { _meta, ...params } }) => ({ kind: "note", method, params }));
}
