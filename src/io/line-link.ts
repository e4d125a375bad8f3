import type { Readable, Writable } from "node:stream";
import { type Link, type LinkMessage, sharedStream } from "../codec/index.js";
import { defaultLimits, Fault, fixedLimits } from "../core/index.js";
import type { Framing } from "./framing.js";
import { lineReader } from "./line-reader.js";
import { lineWriter } from "./line-writer.js";
import { LongReads } from "./long-reads.js";

export interface LineLinkOptions {
  /** How messages are framed; as lines of JSON unless given. */
  readonly framing?: Framing | undefined;
  /** Bytes of one message. */
  readonly messageBytes?: number | undefined;
  /** Characters that a sent message may have; no limit unless given. */
  readonly sendLength?: number | undefined;
  /** Nesting of one message. */
  readonly depth?: number | undefined;
  /** Bad messages after which the link to the peer is closed. */
  readonly badMessages?: number | undefined;
  /** The backlog at which send() makes its caller wait. */
  readonly highWater?: number | undefined;
  /** Called once, at the end or with the fault that broke the link. Returns the fault for the reader. */
  readonly onEnd?: (fault: Fault | undefined) => Promise<Fault | undefined>;
  /** What close() does with the streams. By default it ends the writable and discards what the readable still gets. */
  readonly onClose?: () => void;
}

/** A link over two Node streams: of newline-delimited JSON-RPC, or framed as `framing` says. */
export interface LineLink extends Link {
  readonly incoming: AsyncIterable<readonly LinkMessage[]>;
  /** The peer has gone. From now on send() rejects; `incoming` returns what the peer still sent, then throws. */
  finish(fault: Fault): void;
}

/** Milliseconds that close() gives the peer to read what was sent. */
const flushMs = 500;

export function lineLink(readable: Readable, writable: Writable, options: LineLinkOptions = {}): LineLink {
  const { messageBytes = defaultLimits.messageBytes, depth = defaultLimits.depth, highWater = 256 * 1024 } = options;
  const { framing } = options;
  const writer = lineWriter(writable, {
    framing,
    highWater,
    maxLength: options.sendLength ?? Number.POSITIVE_INFINITY,
    onBroken: (fault) => reader.finish(fault),
  });
  const reads = new LongReads({ maxBytes: messageBytes, depth });
  const reader = lineReader(readable, {
    framing,
    maxBytes: messageBytes,
    depth,
    badMessages: options.badMessages ?? fixedLimits.badMessages,
    reads,
    onEnd: async (fault) => {
      const said = options.onEnd === undefined ? fault : await options.onEnd(fault);
      // A peer that only ended its side, or broke a rule, may still read.
      if (said?.code === "unavailable") writer.fail(said);
      return said;
    },
  });
  const release = options.onClose ?? (() => endAndDiscard(readable, writable));

  const end = async (reason: Fault | undefined): Promise<void> => {
    reader.stop(reason);
    await writer.close(reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } }), flushMs);
    release();
  };
  let closing: Promise<void> | undefined;
  return {
    ...sharedStream,
    incoming: reader,
    send(message) {
      if (reads.sent(message)) reader.wake();
      return writer.send(message);
    },
    pace(call, held) {
      reads.pace(call, held);
      if (!held) reader.wake();
    },
    get backlog() {
      return writer.backlog;
    },
    close: (reason) => {
      closing ??= end(reason);
      return closing;
    },
    finish: (fault) => {
      writer.fail(fault);
      reader.finish(fault);
    },
  };
}

/** Keeps reading, because a peer that is stuck in a write could not see that its input has ended. */
function endAndDiscard(readable: Readable, writable: Writable): void {
  writable.end();
  readable.resume();
}
