import type { AnswerPart, Id, LinkTraits, Outgoing, SendOptions } from "../../codec/index.js";
import type { Canceller, Client, Context, Era, Held, Limits, PageSize, Park, Service } from "../../core/index.js";
import type { CallEnvelope } from "../envelope.js";
import type { AskClient } from "./ask-client.js";
import { type Parking, sessionOf } from "./parking.js";
import type { Sink } from "./sink.js";

/** What the answers on one link have in common. */
export interface AnswerOptions {
  readonly service: Service;
  readonly limits: Limits;
  readonly pageSize: PageSize;
  /** What the link is. */
  readonly traits: LinkTraits;
  readonly parking: Parking;
  /** Counts something that is kept for the peer. */
  hold(): Held;
  send(message: Outgoing, options?: SendOptions): Promise<void>;
  /** Takes a part of an answer, where the link carries those. Undefined: there is room for the next. */
  part(call: Id, part: AnswerPart): Promise<void> | undefined;
}

/**
 * Parks a stream for the client's next request; throws where its caller has too many. One that is cancelled has left it already, and
 * nobody will come for it. What a legacy session leaves ends with it.
 */
export function keep<T>(job: Job, parked: Park<T>, key: string, value: T): void {
  if (job.cancel.fired) return;
  const { identity } = job.client;
  parked.put(key, value, identity, sessionOf(job.era, identity)?.ended);
  job.cancel.on(() => parked.drop(key));
}

/** One call to be answered. */
export interface Job {
  readonly id: Id;
  readonly envelope: CallEnvelope;
  readonly client: Client;
  /** Of the link. */
  readonly era: Era;
  readonly context: Context;
  readonly cancel: Canceller;
  readonly sink: Sink;
  /** What the call holds: its params, and what was gathered for its answer. */
  readonly held: Held;
  /** The legacy session's way to ask; a modern client is asked by `input_required`. */
  readonly asks: AskClient | undefined;
  /** Whether the client gets results as its server made them. */
  readonly neutral: boolean;
}
