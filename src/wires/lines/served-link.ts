import type { Socket } from "node:net";
import type { Incoming } from "../../codec/index.js";
import { type Account, defaultLimits, Fault, type Held, LITTLE_BYTES, type Limits } from "../../core/index.js";
import type { Link } from "../../era/index.js";
import { letGo, lineLink } from "../../io/index.js";
import { until } from "../../stream/index.js";

const NEWLINE = 0x0a;

export interface ServedLineLinkOptions {
  readonly account: Account;
  /** The principal that it counts for. */
  readonly principal: string | undefined;
  readonly limits: Partial<Limits> | undefined;
}

/** A client's connection as a link. It counts the bytes of an incomplete line, and those that wait to be written. */
export function servedLineLink(socket: Socket, { account, principal, limits }: ServedLineLinkOptions): Link {
  // A client that has closed its side may still read its answers.
  socket.allowHalfOpen = true;
  const link = lineLink(socket, socket, { messageBytes: limits?.messageBytes, depth: limits?.depth, onClose: () => letGo(socket) });
  const left = new AbortController();
  boundIncoming(socket, account.hold(principal), limits?.messageMs ?? defaultLimits.messageMs, (fault) => left.abort(fault));
  const unwritten = account.outgoing(principal);
  const count = (): void => unwritten.set(socket.destroyed || link.backlog <= LITTLE_BYTES ? 0 : link.backlog);
  socket.on("drain", count).once("close", () => unwritten.free());
  return {
    ...link,
    incoming: onlyJson(link.incoming as AsyncIterable<readonly Incoming[]>, left.signal),
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

/** Ends a link whose client sends a line that is not JSON, because that is no MCP client; or with the fault that `left` tells. */
async function* onlyJson(incoming: AsyncIterable<readonly Incoming[]>, left: AbortSignal): AsyncGenerator<readonly Incoming[]> {
  for await (const batch of until(incoming, left)) {
    const at = batch.findIndex((message) => message.kind === "bad" && message.fault.code === "parse");
    yield at < 0 ? batch : batch.slice(0, at);
    const bad = batch[at];
    if (bad?.kind === "bad") throw bad.fault;
  }
  if (left.aborted) throw left.reason;
}

/** Counts an incomplete line, and limits the time it may take. */
function boundIncoming(socket: Socket, held: Held, messageMs: number, refuse: (fault: Fault) => void): void {
  let bytes = 0;
  let late: NodeJS.Timeout | undefined;
  const whole = (): void => {
    clearTimeout(late);
    late = undefined;
  };
  socket.on("data", (chunk: Buffer) => {
    const newline = chunk.lastIndexOf(NEWLINE);
    if (newline >= 0) whole();
    bytes = newline < 0 ? bytes + chunk.length : chunk.length - newline - 1;
    // An incomplete message cannot wait for room: its missing part would need more.
    const over = bytes <= LITTLE_BYTES ? held.free() : held.count(bytes);
    if (over !== undefined) refuse(over);
    if (bytes > 0) late ??= setTimeout(() => refuse(tooLate(messageMs)), messageMs).unref();
  });
  socket.once("close", () => {
    whole();
    held.free();
  });
}

function tooLate(ms: number): Fault {
  return new Fault("deadline", `a message did not arrive whole within ${ms} ms`, { data: { limit: "messageMs", max: ms } });
}
