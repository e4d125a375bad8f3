import type { AnswerPart, Id, LinkTraits, Outgoing, SendOptions } from "../../codec/index.js";
import type { Canceller, Client, Context, Era, Held, Limits, PageSize, Park, Service } from "../../core/index.js";
import type { CallEnvelope } from "../envelope.js";
import type { AskClient } from "./ask-client.js";
import { type Parking, sessionOf } from "./parking.js";
import type { Sink } from "./sink.js";

/** What the answers on one link share. */
export interface AnswerOptions {
  readonly service: Service;
  readonly limits: Limits;
  readonly pageSize: PageSize;
  readonly traits: LinkTraits;
  readonly parking: Parking;
  /** Starts to count something that is kept for the peer. */
  hold(): Held;
  send(message: Outgoing, options?: SendOptions): Promise<void>;
  /** Sends a part of an answer, on links that carry parts. Undefined: there is room for the next. */
  part(call: Id, part: AnswerPart): Promise<void> | undefined;
}

/**
 * Parks a stream for the client's next request; throws if its caller has too many. If the call was cancelled, nobody will come back, so
 * nothing is parked. What a legacy session parks ends with it.
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
  /** The era of the link. */
  readonly era: Era;
  readonly context: Context;
  readonly cancel: Canceller;
  readonly sink: Sink;
  /** Counts what the call holds: its params, and what was gathered for its answer. */
  readonly held: Held;
  /** How a legacy session asks its client. Undefined for a modern client, which is asked by `input_required`. */
  readonly asks: AskClient | undefined;
  /** Whether the client gets results exactly as its server made them. */
  readonly neutral: boolean;
}
