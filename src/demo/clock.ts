import type { Context, Layer, Replies, Request, Server } from "../api/index.js";
import { isObject } from "../core/index.js";

const uri = "demo://clock";

/** A resource that changes every second. The layer must be around the server: it sees who subscribes, so that the timer runs only then. */
export function addClock(server: Server): Layer {
  server.resource(
    { uri, name: "clock", description: "The time; changes every second while someone watches", mimeType: "text/plain" },
    () => `${new Date().toISOString()}\n`,
  );
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;
  const enter = (): void => {
    watchers++;
    timer ??= setInterval(() => server.updated(uri), 1000).unref();
  };
  const leave = (): void => {
    if (--watchers > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (inner) => ({
    call: (request, context) => {
      const replies = inner.call(request, context);
      return watches(request) ? counted(replies, context, enter, leave) : replies;
    },
    notify: (notification, context) => inner.notify(notification, context),
  });
}

function watches({ method, params }: Request): boolean {
  if (method !== "subscriptions/listen" || !isObject(params["notifications"])) return false;
  const uris = params["notifications"]["resourceSubscriptions"];
  return Array.isArray(uris) && uris.includes(uri);
}

/** The same replies; `enter` is called when they are first read and `leave` once they have ended, however that comes. */
function counted(inner: Replies, context: Context, enter: () => void, leave: () => void): Replies {
  let state: "idle" | "open" | "ended" = "idle";
  let unhook: (() => void) | undefined;
  const end = (): void => {
    if (state === "open") leave();
    state = "ended";
    unhook?.();
  };
  return {
    async next() {
      if (state === "idle") {
        state = "open";
        enter();
        unhook = context.cancel.on(end);
      }
      try {
        const step = await inner.next();
        if (step.done === true || step.value.kind === "result") end();
        return step;
      } catch (error) {
        end();
        throw error;
      }
    },
    return() {
      end();
      return inner.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
