import type { Socket } from "node:net";
import { MessageCodec } from "../../codec/bufmcpv1/index.js";
import type { Link } from "../../codec/index.js";
import { type Account, defaultLimits, Fault, LITTLE_BYTES, type Limits } from "../../core/index.js";
import { answersProbes, letGo, lineLink } from "../../io/index.js";
import { until } from "../../stream/index.js";
import { delimited } from "./framing.js";

export interface ServedLinkOptions {
  readonly account: Account;
  /** The principal that it counts for. */
  readonly principal: string | undefined;
  readonly limits: Partial<Limits> | undefined;
}

/** A client's connection as a link. It counts the bytes of an incomplete message, and those that wait to be written. */
export function servedLink(socket: Socket, { account, principal, limits }: ServedLinkOptions): Link {
  // A client that has closed its side may still read its answers.
  socket.allowHalfOpen = true;
  const { messageBytes, depth, messageMs } = { ...defaultLimits, ...limits };
  const left = new AbortController();
  const held = account.hold(principal);
  let late: NodeJS.Timeout | undefined;
  const onHeld = (bytes: number): void => {
    clearTimeout(late);
    late = undefined;
    // An incomplete message cannot wait for room: its missing part would need more.
    const over = bytes <= LITTLE_BYTES ? held.free() : held.count(bytes);
    if (over !== undefined) left.abort(over);
    if (bytes > 0) late = setTimeout(() => left.abort(tooLate(messageMs)), messageMs).unref();
  };
  const codec = new MessageCodec({ depth });
  const framing = delimited(codec, { onHeld });
  const link = lineLink(socket, socket, { framing, messageBytes, depth, onClose: () => letGo(socket) });
  const unwritten = account.outgoing(principal);
  const count = (): void => unwritten.set(socket.destroyed || link.backlog <= LITTLE_BYTES ? 0 : link.backlog);
  socket.on("drain", count).once("close", () => {
    clearTimeout(late);
    held.free();
    unwritten.free();
  });
  return answersProbes(
    {
      ...link,
      incoming: endedBy(link.incoming, left.signal),
      get backlog() {
        return link.backlog;
      },
      send(message) {
        const room = link.send(message);
        count();
        return room;
      },
    },
    codec,
  );
}

async function* endedBy<T>(incoming: AsyncIterable<T>, left: AbortSignal): AsyncGenerator<T> {
  yield* until(incoming, left);
  if (left.aborted) throw left.reason;
}

function tooLate(ms: number): Fault {
  return new Fault("deadline", `a message did not arrive whole within ${ms} ms`, { data: { limit: "messageMs", max: ms } });
}
