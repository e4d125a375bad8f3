import type { Fault, FaultCode } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Era } from "./service.js";
import { warn } from "./warn.js";

/** Where something was seen. */
export interface Observed {
  readonly side: "listen" | "dial";
  /** The wire's name: `stdio`, `http`, `grpc`. */
  readonly wire: string;
  /** Names the caller on the listening side. */
  readonly identity?: string | undefined;
}

/** One request on a wire and all that comes back for it. Every event of a call has the same object. */
export interface ObservedCall extends Observed {
  readonly era: Era;
  readonly method: string;
  /** The tool, prompt or URI that the request is about. */
  readonly name?: string | undefined;
}

/** How a call ended. `input_required`: its server asks, and the caller calls again with the answers. */
export type CallOutcome = "ok" | "tool_error" | "input_required" | FaultCode;

export type CallEvent =
  | { readonly kind: "start"; readonly call: ObservedCall }
  | { readonly kind: "progress"; readonly call: ObservedCall; readonly params: JsonObject }
  /** The server asks its client: `method` is that of the question. */
  | { readonly kind: "question"; readonly call: ObservedCall; readonly method: string }
  | {
      readonly kind: "end";
      readonly call: ObservedCall;
      readonly outcome: CallOutcome;
      /** What it failed with. */
      readonly fault?: Fault | undefined;
      /** About what the answer weighs as JSON, where there is one. */
      readonly bytes?: number | undefined;
      readonly milliseconds: number;
    };

/** A message as it crosses the wire. It belongs to the call: read it, and do not change it. */
export interface Frame extends Observed {
  readonly direction: "sent" | "received";
  /**
   * The JSON-RPC message, or the messages of a batch. Where a wire carries an answer in parts, each part is a frame `{ id, part }`.
   * Where a wire says something without a message, such as a cancellation by closing a stream, the frame has the message that it stands for.
   */
  readonly message: JsonObject | readonly JsonObject[];
}

/** A legacy session on the listening side. */
export interface SessionEvent extends Observed {
  readonly kind: "open" | "end";
  readonly protocolVersion: string;
  readonly client?: JsonObject;
}

/** What becomes of a connection that was dialed. */
export type UpstreamChange =
  | { readonly kind: "start" }
  | { readonly kind: "ready"; readonly era: Era; readonly protocolVersion: string; readonly milliseconds: number }
  /** The connection broke, and is made again when it is needed. */
  | { readonly kind: "lost"; readonly reason: Fault }
  /** So many attempts to make it again have failed that calls are refused at once. It is tried again after `retryMs`. */
  | { readonly kind: "failed"; readonly reason: Fault; readonly retryMs: number }
  /** It is there again, so many milliseconds after the attempt began that succeeded. */
  | { readonly kind: "restart"; readonly milliseconds: number }
  /** `reason` is not there if it was closed from this side. */
  | { readonly kind: "exit"; readonly reason?: Fault };
export type UpstreamEvent = Observed & UpstreamChange;

/** A child process that a wire started. */
export type ChildEvent = { readonly pid: number; readonly command: string } & (
  | { readonly kind: "start" }
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: string | null }
);

/** Something that was turned away. */
export interface RefusalEvent extends Observed {
  /** `refused`: its sender was told so. `dropped`: it was not. */
  readonly kind: "refused" | "dropped";
  /** The method of the message, where it has one. */
  readonly method?: string;
  /** The limit that was reached, or else the code of the fault. */
  readonly rule: string;
  readonly fault: Fault;
}

/** What an observer may hear of. */
export interface ObservedEvents {
  readonly call: CallEvent;
  readonly frame: Frame;
  readonly session: SessionEvent;
  readonly upstream: UpstreamEvent;
  readonly child: ChildEvent;
  readonly refusal: RefusalEvent;
}

/** Watches a listener or a connection. It hears of what it has a method for, in the order in which it happens. */
export type Observer = { readonly [K in keyof ObservedEvents]?: ((event: ObservedEvents[K]) => void) | undefined };

/** Those that have thrown: one warning each says enough. */
const failed = new WeakSet<Observer>();

/** Tells an observer. What it throws disturbs nobody: the first time it becomes a warning, and the observer goes on to be told. */
export function tell<K extends keyof ObservedEvents>(observer: Observer, kind: K, event: ObservedEvents[K]): void {
  try {
    observer[kind]?.(event);
  } catch (error) {
    if (failed.has(observer)) return;
    failed.add(observer);
    warn(`an observer threw when it was told of a ${kind}; its further errors are not reported`, error);
  }
}

/** One observer that tells all of these. It has a method for what one of them has a method for. */
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
    for (const observer of told) tell(observer, kind, event);
  };
}

/** The refusal that a fault is. */
export function refusalOf(fault: Fault, at: Observed, kind: RefusalEvent["kind"], method?: string): RefusalEvent {
  const { data } = fault;
  const limit = typeof data === "object" && data !== null && "limit" in data ? data.limit : undefined;
  return { ...at, kind, rule: typeof limit === "string" ? limit : fault.code, fault, ...(method === undefined ? undefined : { method }) };
}
