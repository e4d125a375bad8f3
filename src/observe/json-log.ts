import { type CallEvent, type Fault, isObject, type JsonObject, type Observed, type Observer, redactText } from "../core/index.js";

export interface JsonLogOptions {
  /** Called with each line, without a line break. */
  readonly write: (line: string) => void;
  /** Returns the time; that of the system unless given. */
  readonly now?: (() => Date) | undefined;
  /** Which events to write; all of them unless given. */
  readonly events?: readonly LogEvent[] | undefined;
}

export type LogEvent = "call" | "session" | "upstream" | "child" | "refusal";

/**
 * An observer that writes a line of JSON when a call ends, something is refused, a session opens or ends, or an upstream or a child
 * changes. It never contains arguments or results, nor the error text of a server, which may quote them.
 */
export function jsonLog({ write, now = () => new Date(), events }: JsonLogOptions): Observer {
  const line = (event: LogEvent, members: JsonObject): void => write(JSON.stringify({ time: now().toISOString(), event, ...members }));
  const observer: Required<Omit<Observer, "frame">> = {
    call(event) {
      if (event.kind === "end") line("call", callMembers(event));
    },
    session: (event) =>
      line("session", {
        ...placeOf(event),
        change: event.kind,
        protocolVersion: shortened(event.protocolVersion),
        ...clientOf(event.client),
      }),
    upstream(event) {
      const { kind } = event;
      const took = "milliseconds" in event ? { ms: rounded(event.milliseconds) } : {};
      const speaks = kind === "ready" ? { era: event.era, protocolVersion: event.protocolVersion } : {};
      const reason = "reason" in event && event.reason !== undefined ? ownFault(event.reason) : {};
      line("upstream", { ...placeOf(event), change: kind, ...speaks, ...took, ...reason });
    },
    child(event) {
      const { kind, pid, command } = event;
      const exit = event.kind === "exit" ? { code: event.code, signal: event.signal } : {};
      line("child", { change: kind, pid, command: shortened(command), ...exit });
    },
    refusal: (event) =>
      line("refusal", {
        ...placeOf(event),
        kind: event.kind,
        ...(event.method === undefined ? {} : { method: shortened(event.method) }),
        rule: shortened(event.rule),
        error: event.fault.code,
      }),
  };
  if (events === undefined) return observer;
  return Object.fromEntries(events.map((name) => [name, observer[name]])) as Observer;
}

function callMembers({ call, outcome, fault, bytes, milliseconds }: CallEvent & { readonly kind: "end" }): JsonObject {
  return {
    ...placeOf(call),
    era: call.era,
    method: shortened(call.method),
    ...(call.name === undefined ? {} : { name: shortened(call.name) }),
    outcome,
    ms: rounded(milliseconds),
    ...(bytes === undefined ? {} : { bytes }),
    ...(fault?.rpcCode === undefined ? {} : { rpcCode: fault.rpcCode }),
    ...detail(fault),
  };
}

/** The beginning of the identity tells callers apart, but is not enough to impersonate one. */
function placeOf({ side, wire, identity }: Observed): JsonObject {
  return { side, wire, ...(identity === undefined ? {} : { caller: identity.slice(0, 8) }) };
}

/** The named details of a fault: the limit that was reached, or how the peer ended. */
function detail(fault: Fault | undefined): JsonObject {
  if (!isObject(fault?.data)) return {};
  const { limit, reason } = fault.data;
  return {
    ...(typeof limit === "string" ? { limit: shortened(limit) } : {}),
    ...(typeof reason === "string" ? { reason: shortened(reason) } : {}),
  };
}

/** For a connection or a process: the text is Anywire's own. */
function ownFault(fault: Fault): JsonObject {
  return { error: fault.code, message: shortened(fault.message), ...detail(fault) };
}

function clientOf(client: JsonObject | undefined): JsonObject {
  const { name, version } = client ?? {};
  return typeof name === "string" ? { client: shortened(typeof version === "string" ? `${name} ${version}` : name) } : {};
}

const LONGEST = 200;

/** A name that somebody else chose, shortened. */
function shortened(text: string): string {
  if (text.length <= LONGEST && !/[\s=@]/.test(text)) return text;
  // Redacts more than is shown, so that a secret is not cut down to something that does not look like one.
  const safe = redactText(text.slice(0, 2 * LONGEST));
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
