import {
  type Cancel,
  type Context,
  type Fault,
  fixedTimeouts,
  guard,
  type JsonObject,
  type NoteReply,
  type Replies,
  toFault,
} from "../core/index.js";
import { newsOfListen } from "../era/index.js";
import { Backoff } from "../stream/index.js";

/** A stream that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/**
 * A listening call on the current session with the server. When its session has ended for good, it is made again on the next. The second
 * acknowledgement becomes notifications of what may have changed meanwhile. `over` tells whether there will be no next session.
 */
export function listenAgain(open: (context: Context) => Replies, context: Context, over: () => boolean): Replies {
  return guard(async function* (inner) {
    const backoff = new Backoff<Fault>();
    let accepted = false;
    for (;;) {
      const since = Date.now();
      try {
        for await (const reply of open(inner)) {
          if (reply.kind === "result") return reply.value;
          const acknowledges = reply.kind === "note" && reply.method === ACKNOWLEDGED;
          if (acknowledges && accepted) yield* news(reply.params);
          else yield reply;
          accepted ||= acknowledges;
        }
      } catch (error) {
        const fault = toFault(error);
        if (inner.cancel.fired || fault.code !== "unavailable" || over()) throw fault;
        if (Date.now() - since >= LASTED_MS) backoff.reset();
        backoff.failed(fault);
      }
      await pause(backoff.wait, inner.cancel);
      if (inner.cancel.fired) return {};
    }
  }, context);
}

function news(acknowledged: JsonObject): NoteReply[] {
  return newsOfListen(0, acknowledged).map(({ method, params: { _meta, ...params } }) => ({ kind: "note", method, params }));
}

function pause(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    cancel.on(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
