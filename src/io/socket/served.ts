import type { Socket } from "node:net";
import type { Link } from "../../codec/index.js";
import { type Account, defaultLimits, Fault, LITTLE_BYTES, type Limits } from "../../core/index.js";
import { timerMs, until } from "../../stream/index.js";
import type { LineLink } from "../line-link.js";

export interface ServedSocketOptions {
  readonly account: Account;
  /** The principal that it counts for. */
  readonly principal: string | undefined;
  readonly limits: Partial<Limits> | undefined;
}

/** Called after each read with the bytes of the incomplete message, and whether that one began with this read. */
export type OnPartial = (bytes: number, anew: boolean) => void;

export interface ServedSocketLink {
  open(onPartial: OnPartial): LineLink;
  /** Looks through what arrives. */
  sift?(incoming: LineLink["incoming"]): LineLink["incoming"];
}

/**
 * A client's connection as a link. It counts the bytes of an incomplete message and those that wait to be written, and limits the time that
 * a message may take to arrive.
 */
export function servedSocketLink(socket: Socket, { open, sift }: ServedSocketLink, options: ServedSocketOptions): Link {
  const { account, principal, limits } = options;
  const messageMs = limits?.messageMs ?? defaultLimits.messageMs;
  // A client that has closed its side may still read its answers.
  socket.allowHalfOpen = true;
  const left = new AbortController();
  const held = account.hold(principal);
  let late: NodeJS.Timeout | undefined;
  const link = open((bytes, anew) => {
    if (anew || bytes === 0) {
      clearTimeout(late);
      late = undefined;
    }
    // An incomplete message cannot wait for room: its missing part would need more.
    const over = bytes <= LITTLE_BYTES ? held.free() : held.count(bytes);
    if (over !== undefined) left.abort(over);
    if (bytes > 0) late ??= setTimeout(() => left.abort(tooLate(messageMs)), timerMs(messageMs)).unref();
  });
  const unwritten = account.outgoing(principal);
  const count = (): void => unwritten.set(socket.destroyed || link.backlog <= LITTLE_BYTES ? 0 : link.backlog);
  socket.on("drain", count).once("close", () => {
    clearTimeout(late);
    held.free();
    unwritten.free();
  });
  const incoming = endedBy(link.incoming, left.signal);
  return {
    ...link,
    incoming: sift?.(incoming) ?? incoming,
    get backlog() {
      return link.backlog;
    },
    send(message) {
      const room = link.send(message);
      count();
      return room;
    },
  };
}

async function* endedBy<T>(incoming: AsyncIterable<T>, left: AbortSignal): AsyncGenerator<T> {
  yield* until(incoming, left);
  if (left.aborted) throw left.reason;
}

function tooLate(ms: number): Fault {
  return new Fault("deadline", `a message did not arrive whole within ${ms} ms`, { data: { limit: "messageMs", max: ms } });
}
