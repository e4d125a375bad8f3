import { type Id, type Outgoing, serialise, writeSse } from "../../codec/index.js";
import type { JsonObject } from "../../core/index.js";
import type { WritePart } from "../../era/index.js";
import type { Exchange, Outlet } from "../../io/index.js";
import { type LargeAnswer, largeAnswer } from "./large.js";

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
  /** Begins the response to a read that is written as it comes; from then on nothing else of the call is sent. */
  large(id: Id): WritePart | undefined;
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

/** Ends an answer that is written as it comes with the rest of its result; an error can only cut it. */
export async function finish(large: LargeAnswer, message: Outgoing): Promise<void> {
  if (!Array.isArray(message) && "result" in message) return large.finish(message.result as JsonObject).catch(() => large.abort());
  large.abort();
}

export function postAnswer(exchange: Exchange, { streams, json, headers, status }: AnswerOptions): Answer {
  let outlet: Outlet | undefined;
  let ended = false;
  let writing = 0;
  let large: LargeAnswer | undefined;
  const open = (): Outlet => {
    outlet ??= exchange.stream(200, { ...headers, ...sseHeaders });
    return outlet;
  };
  return {
    send(message, final) {
      if (ended) return done;
      if (final) ended = true;
      if (large !== undefined) return final ? finish(large, message) : done;
      const text = serialise(message);
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
    large(id) {
      if (ended || large !== undefined || (!json && !streams)) return undefined;
      const event = outlet !== undefined || !json;
      large = largeAnswer(event ? open() : exchange.stream(200, { ...headers, "content-type": JSON_TYPE }), { id, event });
      return large.part;
    },
    keepAlive() {
      // An answer that is being written shows that it is alive, or that nobody reads it.
      if (!ended && large === undefined && streams && writing === 0) void open().write(": alive\n\n");
    },
  };
}
