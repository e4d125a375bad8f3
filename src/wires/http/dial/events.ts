import { type Id, type Incoming, parseMessage, sseParser } from "../../../codec/index.js";
import type { Limits } from "../../../core/index.js";
import type { Sent } from "../../../io/index.js";

export type ParsedEvent = Exclude<Incoming, { kind: "batch" }>;

/** What one connection of a stream leaves for the next. */
export interface Seen {
  last: string | undefined;
  retry: number | undefined;
}

/** A reader that may be paused. */
export interface HeldReader {
  held: boolean;
  wake: (() => void) | undefined;
}

export interface ReadEventsOptions {
  readonly limits: Limits;
  readonly seen: Seen;
  /** The call that the stream belongs to. */
  readonly call?: Id;
  readonly open?: HeldReader;
  readonly take: (messages: readonly ParsedEvent[]) => Promise<void>;
}

/** Reads the messages of an event stream until it ends. */
export async function readEvents(sent: Sent, { limits, seen, call, open, take }: ReadEventsOptions): Promise<void> {
  const parser = sseParser({ maxBytes: limits.messageBytes });
  let comments = 0;
  for await (const chunk of sent.body) {
    for (const event of parser.push(chunk)) {
      if (event.id !== undefined) seen.last = event.id;
      if (event.data === "" || (event.event !== undefined && event.event !== "message")) continue;
      const message = parseMessage(event.data, { depth: limits.depth });
      await take(message.kind === "batch" ? message.messages : [call === undefined ? message : carried(message, call)]);
    }
    if (parser.comments > comments) sent.beat();
    comments = parser.comments;
    seen.retry = parser.retry ?? seen.retry;
    if (open !== undefined) await caughtUp(open);
  }
}

/** Resolves when the reader is no longer paused. */
export async function caughtUp(open: HeldReader): Promise<void> {
  while (open.held) {
    await new Promise<void>((resolve) => {
      open.wake = resolve;
    });
  }
}

/** A message together with the call on whose stream it came. An error that names no request is about that call. */
function carried(message: ParsedEvent, call: Id): ParsedEvent {
  if (message.kind === "error" && message.id === undefined) return { ...message, id: call };
  return message.kind === "notification" || message.kind === "request" ? { ...message, call } : message;
}
