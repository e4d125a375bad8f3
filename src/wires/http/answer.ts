import { type Outgoing, serialise, writeSse } from "../../codec/index.js";
import type { Exchange, Outlet } from "../../io/index.js";

export const JSON_TYPE = "application/json";
export const SSE_TYPE = "text/event-stream";
export const sseHeaders: Readonly<Record<string, string>> = {
  "content-type": SSE_TYPE,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The answer to one POST: one JSON object if the response is all there is to say, else a stream of events. */
export interface Answer {
  /** Sends a message of the call; the response ends it. */
  send(message: Outgoing, final: boolean): Promise<void>;
  /** Shows that it is still alive: a stream gets a comment, and an answer that has not begun becomes a stream. */
  keepAlive(): void;
}

export interface AnswerOptions {
  /** Whether the client takes a stream. */
  readonly streams: boolean;
  /** Whether it takes one object. */
  readonly json: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of a response that comes alone. */
  readonly status: (message: Outgoing) => number;
}

const done: Promise<void> = Promise.resolve();

export function postAnswer(exchange: Exchange, { streams, json, headers, status }: AnswerOptions): Answer {
  let outlet: Outlet | undefined;
  let ended = false;
  let writing = 0;
  const open = (): Outlet => {
    outlet ??= exchange.stream(200, { ...headers, ...sseHeaders });
    return outlet;
  };
  return {
    send(message, final) {
      if (ended) return done;
      const text = serialise(message);
      if (final) ended = true;
      if (final && outlet === undefined && json) {
        exchange.reply(status(message), { ...headers, "content-type": JSON_TYPE }, text);
        return done;
      }
      // A client that takes no stream gets the response alone.
      if (!streams) return done;
      writing++;
      const written = open()
        .write(writeSse({ event: "message", data: text }))
        .finally(() => writing--);
      if (final) open().end();
      return written;
    },
    keepAlive() {
      // An answer that is being written shows that it is alive, or that nobody reads it.
      if (!ended && streams && writing === 0) void open().write(": alive\n\n");
    },
  };
}
