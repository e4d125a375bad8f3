import type { CallEvent, Frame, ObservedEvents, Observer } from "../../src/api/index.js";

/** An observer that keeps all that it is told. */
export interface Recorder extends Required<Observer> {
  readonly told: { readonly [K in keyof ObservedEvents]: ObservedEvents[K][] };
  /** What crossed in one direction, as text. */
  texts(direction: Frame["direction"]): string[];
  /** The events of calls in short: `start tools/call echo`, `end tools/call ok`. */
  readonly calls: readonly string[];
}

export function recorder(): Recorder {
  const told: Recorder["told"] = { call: [], frame: [], session: [], upstream: [], child: [], refusal: [] };
  return {
    told,
    texts: (direction) => told.frame.filter((frame) => frame.direction === direction).map(({ message }) => JSON.stringify(message)),
    get calls() {
      return told.call.map(short);
    },
    call: (event) => void told.call.push(event),
    frame: (event) => void told.frame.push(event),
    session: (event) => void told.session.push(event),
    upstream: (event) => void told.upstream.push(event),
    child: (event) => void told.child.push(event),
    refusal: (event) => void told.refusal.push(event),
  };
}

function short(event: CallEvent): string {
  const { method, name } = event.call;
  const more = { start: name, progress: undefined, question: event.kind === "question" ? event.method : undefined, end: undefined }[
    event.kind
  ];
  return [event.kind, method, event.kind === "end" ? event.outcome : more].filter((word) => word !== undefined).join(" ");
}
