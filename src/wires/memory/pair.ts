import {
  type Id,
  type Incoming,
  type IncomingNotification,
  type IncomingRequest,
  isBatch,
  noParams,
  type Outgoing,
  type OutgoingMessage,
} from "../../codec/index.js";
import { Fault, type JsonObject, weigh } from "../../core/index.js";
import { type Link, type LinkTraits, sharedStream } from "../../era/index.js";
import { type Iteration, type Pipe, pipe, platform } from "../../stream/index.js";

/** Messages that may wait in one direction. */
const ITEMS = 1024;
const BYTES = 1024 * 1024;

/** Messages that are taken in one turn of the event loop: otherwise two ends that only wait for each other would block timers. */
const TURN = 64;
/** With this many messages waiting, a reader continues before its turn: the sender may be what the event loop waits for. */
const CROWD = 16;

type Schedule = (callback: () => void) => unknown;
/** Where the runtime has no setImmediate, a timer works too, but takes longer. */
const soon: Schedule = platform.setImmediate ?? ((callback) => setTimeout(callback, 0));

/** Two ends of a link in one process. Messages are not copied: treat what you receive as read-only. */
export function linkPair(): [Link, Link] {
  const there = new Lane();
  const back = new Lane();
  return [end(back, there), end(there, back)];
}

/** One direction. The iterator is written by hand: a generator around the pipe's own costs as much again. */
class Lane implements Iteration<readonly Incoming[]> {
  readonly pipe: Pipe<Outgoing> = pipe<Outgoing>({ items: ITEMS, bytes: BYTES, size: weigh });
  #taken = 0;
  #go: (() => void) | undefined;

  offer(message: Outgoing): boolean {
    const taken = this.pipe.offer(message);
    if (this.pipe.length >= CROWD) this.#go?.();
    return taken;
  }

  next(): Promise<IteratorResult<readonly Incoming[], undefined>> {
    if (++this.#taken % TURN !== 0) return this.pipe.next().then(received);
    const turn = new Promise<void>((resolve) => {
      this.#go = resolve;
      soon(resolve);
    });
    return turn.then(() => this.pipe.next()).then(received);
  }

  return(): Promise<IteratorResult<readonly Incoming[], undefined>> {
    return this.pipe.return().then(received);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const traits: LinkTraits = { ...sharedStream.traits, bytes: true };

function end(from: Lane, to: Lane): Link {
  let reason: Fault | undefined;
  let waiting = 0;
  return {
    ...sharedStream,
    traits,
    incoming: from,
    get backlog() {
      return to.pipe.bytes + waiting;
    },
    async send(message) {
      if (reason !== undefined) throw reason;
      if (to.offer(message)) return;
      const size = weigh(message);
      waiting += size;
      const taken = await to.pipe.write(message);
      waiting -= size;
      if (!taken) throw reason ?? new Fault("unavailable", "the peer closed the link", { data: { reason: "closed" } });
    },
    async close(why) {
      reason ??= why ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
      to.pipe.close();
      await from.return();
    },
  };
}

function received(step: IteratorResult<Outgoing, undefined>): IteratorResult<readonly Incoming[], undefined> {
  if (step.done === true) return step;
  const message = step.value;
  const batch: Incoming = isBatch(message) ? { kind: "batch", messages: message.map(arrived) } : arrived(message);
  return { done: false, value: [batch] };
}

/** A sent message in the form that its receiver gets. */
function arrived(message: OutgoingMessage): Exclude<Incoming, { kind: "batch" }> {
  if ("method" in message) {
    const params: JsonObject = message.params ?? noParams;
    if ("id" in message) return { kind: "request", id: message.id, method: message.method, params } satisfies IncomingRequest;
    return { kind: "notification", method: message.method, params } satisfies IncomingNotification;
  }
  if ("result" in message) return { kind: "result", id: message.id, value: message.result };
  return message.id === null
    ? { kind: "error", error: message.error }
    : { kind: "error", id: message.id satisfies Id, error: message.error };
}
