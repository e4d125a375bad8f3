import type { Fault, FaultCode } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Era } from "./service.js";
import { warn } from "./warn.js";

/** Where an event was seen. */
export interface Observed {
  readonly side: "listen" | "dial";
  /** The wire's name: `stdio`, `http`, `grpc`. */
  readonly wire: string;
  /** The key of the caller, on the listening side. */
  readonly identity?: string | undefined;
}

/** One request on a wire and all that comes back for it. Every event of a call has the same object. */
export interface ObservedCall extends Observed {
  readonly era: Era;
  readonly method: string;
  /** The tool, prompt or URI that the request is about. */
  readonly name?: string | undefined;
}

/** How a call ended. `input_required`: the server asks, and the caller calls again with the answers. */
export type CallOutcome = "ok" | "tool_error" | "input_required" | FaultCode;

export type CallEvent =
  | { readonly kind: "start"; readonly call: ObservedCall }
  | { readonly kind: "progress"; readonly call: ObservedCall; readonly params: JsonObject }
  /** The server asks its client. `method` is the method of the question. */
  | { readonly kind: "question"; readonly call: ObservedCall; readonly method: string }
  | {
      readonly kind: "end";
      readonly call: ObservedCall;
      readonly outcome: CallOutcome;
      /** What it failed with. */
      readonly fault?: Fault | undefined;
      /** About how many bytes of JSON the answer has, if there is one. */
      readonly bytes?: number | undefined;
      readonly milliseconds: number;
    };

/** A message as it crosses the wire. It belongs to the call: read it, and do not change it. */
export interface Frame extends Observed {
  readonly direction: "sent" | "received";
  /**
   * The JSON-RPC message, or the messages of a batch. Where a wire carries an answer in parts, each part is a frame `{ id, part }`. Where a
   * wire says something without a message, as when it cancels by closing a stream, the frame has the message that this stands for.
   */
  readonly message: JsonObject | readonly JsonObject[];
}

/** A legacy session on the listening side. */
export interface SessionEvent extends Observed {
  readonly kind: "open" | "end";
  readonly protocolVersion: string;
  readonly client?: JsonObject;
}

/** A change in the life of a dialed connection. */
export type UpstreamChange =
  | { readonly kind: "start" }
  | { readonly kind: "ready"; readonly era: Era; readonly protocolVersion: string; readonly milliseconds: number }
  /** The connection broke, or a call did not reach the server. The connection is made again when it is needed. */
  | { readonly kind: "lost"; readonly reason: Fault }
  /** Too many attempts to reconnect have failed, so calls are refused at once. The next attempt comes after `retryMs`. */
  | { readonly kind: "failed"; readonly reason: Fault; readonly retryMs: number }
  /** The connection is back. `milliseconds`: how long that took. */
  | { readonly kind: "restart"; readonly milliseconds: number }
  /** The connection ended. `reason` is absent if this side closed it. */
  | { readonly kind: "exit"; readonly reason?: Fault };
export type UpstreamEvent = Observed & UpstreamChange;

/** A child process that a wire started. */
export type ChildEvent = { readonly pid: number; readonly command: string } & (
  | { readonly kind: "start" }
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: string | null }
);

/** Something that was refused or dropped. */
export interface RefusalEvent extends Observed {
  /** `refused`: the sender was told. `dropped`: it was not. */
  readonly kind: "refused" | "dropped";
  /** The method of the message, where it has one. */
  readonly method?: string;
  /** The limit that was reached, or otherwise the code of the fault. */
  readonly rule: string;
  readonly fault: Fault;
}

/** The events that an observer may receive. */
export interface ObservedEvents {
  readonly call: CallEvent;
  readonly frame: Frame;
  readonly session: SessionEvent;
  readonly upstream: UpstreamEvent;
  readonly child: ChildEvent;
  readonly refusal: RefusalEvent;
}

/** Watches a listener or a connection. It is called for each kind of event that it has a method for, in the order in which they happen. */
export type Observer = { readonly [K in keyof ObservedEvents]?: ((event: ObservedEvents[K]) => void) | undefined };

/** Observers that have thrown. Each gets one warning. */
const failed = new WeakSet<Observer>();

/**
 * Calls an observer. If it throws, nothing else is disturbed: the first error becomes a warning, and the observer is still called later.
 */
export function notifyObserver<K extends keyof ObservedEvents>(observer: Observer, kind: K, event: ObservedEvents[K]): void {
  try {
    observer[kind]?.(event);
  } catch (error) {
    if (failed.has(observer)) return;
    failed.add(observer);
    warn(`an observer threw at a ${kind} event; its further errors are not reported`, error);
  }
}

/** One observer that calls all of these. It has the methods that at least one of them has. */
export function combineObservers(...observers: readonly Observer[]): Observer {
  const all: { readonly [K in keyof ObservedEvents]: Observer[K] } = {
    call: telling("call", observers),
    frame: telling("frame", observers),
    session: telling("session", observers),
    upstream: telling("upstream", observers),
    child: telling("child", observers),
    refusal: telling("refusal", observers),
  };
  return all;
}

function telling<K extends keyof ObservedEvents>(
  kind: K,
  observers: readonly Observer[],
): ((event: ObservedEvents[K]) => void) | undefined {
  const told = observers.filter((observer) => observer[kind] !== undefined);
  if (told.length === 0) return undefined;
  return (event) => {
    for (const observer of told) notifyObserver(observer, kind, event);
  };
}

/** The refusal event of a fault. */
export function refusalOf(fault: Fault, at: Observed, kind: RefusalEvent["kind"], method?: string): RefusalEvent {
  const { data } = fault;
  const limit = typeof data === "object" && data !== null && "limit" in data ? data.limit : undefined;
  return { ...at, kind, rule: typeof limit === "string" ? limit : fault.code, fault, ...(method === undefined ? undefined : { method }) };
}
