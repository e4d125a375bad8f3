import {
  type AnswerPart,
  emptyFrame,
  hasRoom,
  type Id,
  messageFrame,
  type Outgoing,
  partFrame,
  serialise,
  writeSse,
} from "../../codec/index.js";
import type { JsonObject } from "../../core/index.js";
import { type Exchange, noHeaders, type Outlet } from "../../io/index.js";
import { allocateGarbage } from "../../stream/index.js";
import { type LargeAnswer, largeAnswer } from "./large.js";
import { JSON_TYPE, PARTS_TYPE, SSE_TYPE } from "./media-types.js";

const jsonHeaders: Readonly<Record<string, string>> = { "content-type": JSON_TYPE };
const unbuffered: Readonly<Record<string, string>> = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };
export const sseHeaders: Readonly<Record<string, string>> = { "content-type": SSE_TYPE, ...unbuffered };
const partsHeaders: Readonly<Record<string, string>> = { "content-type": PARTS_TYPE, ...unbuffered };

/** The answer to one POST: a JSON object if the response is the only message, otherwise a stream of events or of parts. */
export interface HttpAnswer {
  /** Sends a message of the call. The response ends it. */
  send(message: Outgoing, final: boolean): Promise<void>;
  /**
   * Whether a read can be answered in parts now. A method, because a getter in an object literal costs V8 a hidden class, which keeps the
   * call in memory until a full collection.
   */
  inParts(): boolean;
  /**
   * Whether messages can be sent beside the parts. A JSON object has no place for them, so they are dropped once its first part is written.
   */
  readonly mixed: boolean;
  /** Writes a part of the answer. Resolves once there is room for the next. */
  part(id: Id, part: AnswerPart): Promise<void>;
  /** Shows that the answer is alive: a stream gets a comment, and an answer that has not begun becomes a stream. */
  keepAlive(): void;
  /** Cuts the answer. If it has not begun, the client gets the answer for a session that has ended. */
  abort(): void;
}

export interface HttpAnswerOptions {
  /** Whether the client accepts an event stream. */
  readonly streams: boolean;
  /** Whether it accepts a JSON object. */
  readonly json: boolean;
  /** Whether it accepts a stream of parts. */
  readonly parts: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of a response that is the only message. */
  readonly status: (message: Outgoing) => number;
}

export function postAnswer(exchange: Exchange, { streams, json, parts, headers, status }: HttpAnswerOptions): HttpAnswer {
  let outlet: Outlet | undefined;
  let ended = false;
  let large: LargeAnswer | undefined;
  const open = (): Outlet => {
    outlet ??= exchange.stream(200, { ...headers, ...(parts ? partsHeaders : sseHeaders) });
    return outlet;
  };
  const begin = (id: Id): LargeAnswer => {
    const event = outlet !== undefined || !json;
    outlet ??= event ? open() : exchange.stream(200, { ...headers, "content-type": JSON_TYPE });
    return largeAnswer(outlet, { id, event });
  };
  return {
    mixed: parts,
    inParts: () => !ended && (json || streams || parts),
    send(message, final) {
      if (ended) return hasRoom;
      if (final) ended = true;
      if (large !== undefined) return final ? finish(large, message) : hasRoom;
      const text = serialise(message);
      if (final && outlet === undefined && json) {
        exchange.reply(status(message), headers === noHeaders ? jsonHeaders : { ...headers, ...jsonHeaders }, text);
        return hasRoom;
      }
      // A client that accepts no stream only gets the response.
      if (!streams && !parts) return hasRoom;
      const written = parts ? open().write(...messageFrame(text)) : open().write(writeSse({ event: "message", data: text }));
      if (final) open().end();
      return written;
    },
    part(id, part) {
      if (ended) return hasRoom;
      if (part.kind === "chunk") allocateGarbage(part.data.length);
      if (parts) return open().write(...partFrame(part));
      large ??= begin(id);
      return large.part(part);
    },
    keepAlive() {
      // While something waits to be written, the stream is alive, or nobody reads it.
      if (!ended && large === undefined && (streams || parts) && (outlet?.backlog ?? 0) === 0)
        void open().write(parts ? emptyFrame : ": alive\n\n");
    },
    abort() {
      if (!ended && outlet === undefined) exchange.reply(404, headers);
      ended = true;
      outlet?.abort();
    },
  };
}

/** Ends an answer that is written as it comes with the rest of its result. An error can only cut it. */
async function finish(large: LargeAnswer, message: Outgoing): Promise<void> {
  if (!Array.isArray(message) && "result" in message) return large.finish(message.result as JsonObject).catch(() => large.abort());
  large.abort();
}
