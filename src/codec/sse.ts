import { createParser } from "eventsource-parser";
import { Fault } from "../core/index.js";

export interface SseEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

/** One event as text. Its data has no line break, because it is one line of JSON. */
export function writeSse({ id, event, data }: SseEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

export interface SseParser {
  push(chunk: Uint8Array): readonly SseEvent[];
  /** Milliseconds to wait before reconnecting, if the server said so. */
  readonly retry: number | undefined;
  /** The number of comments so far. A server writes them to show that it is there. */
  readonly comments: number;
}

/** Parses events from chunks of any size. Throws a Fault: `parse` for bad UTF-8, `overload` for an event beyond the limit. */
export function sseParser(options: { readonly maxBytes: number }): SseParser {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let events: SseEvent[] = [];
  let retry: number | undefined;
  let comments = 0;
  let over = false;
  const parser = createParser({
    maxBufferSize: options.maxBytes,
    onEvent: (event) => void events.push(event),
    onRetry: (ms) => {
      retry = ms;
    },
    onComment: () => {
      comments++;
    },
    onError: (error) => {
      over ||= error.type === "max-buffer-size-exceeded";
    },
  });
  return {
    push(chunk) {
      let text: string;
      try {
        text = decoder.decode(chunk, { stream: true });
      } catch (error) {
        throw new Fault("parse", "the event stream is not UTF-8", { cause: error });
      }
      // After an event beyond the limit the parser takes nothing more.
      if (!over) parser.feed(text);
      if (over)
        throw new Fault("overload", "an event is larger than a message may be", { data: { limit: "messageBytes", max: options.maxBytes } });
      const read = events;
      events = [];
      return read;
    },
    get retry() {
      return retry;
    },
    get comments() {
      return comments;
    },
  };
}
