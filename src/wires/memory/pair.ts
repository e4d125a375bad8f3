import {
  type Id,
  type Incoming,
  type IncomingNotification,
  type IncomingRequest,
  noParams,
  type Outgoing,
  type OutgoingMessage,
} from "../../codec/index.js";
import { Fault, type JsonObject, weigh } from "../../core/index.js";
import type { Link } from "../../era/index.js";
import { type Pipe, pipe } from "../../stream/index.js";

/** Messages under way in one direction. */
const ITEMS = 1024;
const BYTES = 1024 * 1024;

/** Two ends of a link in one process. Messages pass as they are: treat what comes out as read-only. */
export function linkPair(): [Link, Link] {
  const there = queue();
  const back = queue();
  return [end(back, there), end(there, back)];
}

function queue(): Pipe<Outgoing> {
  return pipe<Outgoing>({ items: ITEMS, bytes: BYTES, size: weigh });
}

function end(from: Pipe<Outgoing>, to: Pipe<Outgoing>): Link {
  let reason: Fault | undefined;
  let waiting = 0;
  return {
    incoming: batches(from),
    octets: true,
    get backlog() {
      return to.bytes + waiting;
    },
    async send(message) {
      if (reason !== undefined) throw reason;
      if (to.offer(message)) return;
      const size = weigh(message);
      waiting += size;
      const taken = await to.write(message);
      waiting -= size;
      if (!taken) throw reason ?? new Fault("unavailable", "the peer closed the link", { data: { reason: "closed" } });
    },
    async close(why) {
      reason ??= why ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
      to.close();
      await from.return();
    },
  };
}

/** By hand: a generator around the pipe's own iterator costs as much again. */
function batches(from: Pipe<Outgoing>): AsyncIterableIterator<readonly Incoming[], undefined> {
  return {
    next: () => from.next().then(received),
    return: () => from.return().then(received),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function received(step: IteratorResult<Outgoing, undefined>): IteratorResult<readonly Incoming[], undefined> {
  if (step.done === true) return step;
  const message = step.value;
  const batch: Incoming = Array.isArray(message) ? { kind: "batch", messages: message.map(arrived) } : arrived(message as OutgoingMessage);
  return { done: false, value: [batch] };
}

/** What a message sent is to its receiver. */
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
