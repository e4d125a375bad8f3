import type { CallEvent, ChildEvent, Observed, Observer, RefusalEvent, SessionEvent, UpstreamEvent } from "../core/index.js";
import { CappedNames, methodLabel } from "./labels.js";
import { type Family, Histogram, Numbers, observe } from "./series.js";

export interface MetricsOptions {
  /**
   * Also counts calls by tool name: `true` for the first 100 names, or a number. Further names, and names that no server has answered to,
   * are counted as `other`.
   */
  readonly tools?: boolean | number | undefined;
}

/** A number that is read when the metrics are read: one value, or one for each value of a label. */
export interface Reading {
  readonly type: "counter" | "gauge";
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  read(): number | Readonly<Record<string, number>>;
}

/** An observer that counts. It may watch any number of listeners and connections. */
export interface Metrics extends Observer {
  /** All metrics in Prometheus' text format. */
  text(): string;
  readonly contentType: string;
  /** Adds a metric of your own. */
  add(reading: Reading): void;
}

const TOOLS = 100;
const RULES = 64;

export function metrics(options: MetricsOptions = {}): Metrics {
  const calls = new CallMetrics(options);
  const rest = new LinkMetrics();
  const readings: Reading[] = [];
  return {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    text: () => [...calls.families, ...rest.families].map((family) => family.text()).join("") + readings.map(readingText).join(""),
    add: (reading) => void readings.push(reading),
    call: (event) => calls.take(event),
    session: (event) => rest.session(event),
    upstream: (event) => rest.upstream(event),
    child: (event) => rest.child(event),
    refusal: (event) => rest.refusal(event),
  };
}

/** The counters for the calls on one wire. */
interface WireCounts {
  readonly open: { value: number };
  bytes: { value: number } | undefined;
  readonly methods: Memo<{ count(outcome: string, seconds: number): void }>;
}

/** Values that are made once for each name. There are few names: of wires, known methods and outcomes. */
class Memo<T> {
  readonly #made = new Map<string, T>();
  readonly #make: (name: string) => T;

  constructor(make: (name: string) => T) {
    this.#make = make;
  }

  of(name: string): T {
    let found = this.#made.get(name);
    if (found === undefined) this.#made.set(name, (found = this.#make(name)));
    return found;
  }
}

class CallMetrics {
  readonly #calls = new Numbers("counter", "anywire_calls_total", "Calls that have ended, by outcome: ok, or what went wrong.", [
    "side",
    "wire",
    "method",
    "outcome",
  ]);
  readonly #open = new Numbers("gauge", "anywire_calls_open", "Calls that are under way.", ["side", "wire"]);
  readonly #bytes = new Numbers("counter", "anywire_answer_bytes_total", "About what the answers weigh as JSON.", ["side", "wire"]);
  readonly #questions = new Numbers("counter", "anywire_questions_total", "Questions of servers to their clients.", ["side", "method"]);
  readonly #durations = {
    listen: new Histogram("mcp_server_operation_duration_seconds", "Duration of calls that came in.", ["mcp_method_name"]),
    dial: new Histogram("mcp_client_operation_duration_seconds", "Duration of calls that went to an upstream.", ["mcp_method_name"]),
  };
  readonly #toolCalls = new Numbers("counter", "anywire_tool_calls_total", "Calls of tools that came in.", ["tool", "outcome"]);
  readonly #toolSeconds = new Numbers("counter", "anywire_tool_seconds_total", "Seconds that calls of tools took.", ["tool"]);
  readonly #tools: CappedNames | undefined;
  /** The numbers that every call changes, so that they need not be looked up by all their labels. */
  readonly #counts = { listen: this.#countsOf("listen"), dial: this.#countsOf("dial") };
  readonly families: readonly Family[] = [
    this.#calls,
    this.#open,
    this.#bytes,
    this.#questions,
    this.#durations.listen,
    this.#durations.dial,
    this.#toolCalls,
    this.#toolSeconds,
  ];

  constructor({ tools = false }: MetricsOptions) {
    this.#tools = tools === false ? undefined : new CappedNames(tools === true ? TOOLS : tools);
  }

  #countsOf(side: Observed["side"]): Memo<WireCounts> {
    return new Memo((wire) => ({
      open: this.#open.at([side, wire]),
      bytes: undefined,
      methods: new Memo((method) => {
        const outcomes = new Memo((outcome) => this.#calls.at([side, wire, method, outcome]));
        const durations = this.#durations[side].at([method]);
        return {
          count(outcome, seconds) {
            outcomes.of(outcome).value++;
            observe(durations, seconds);
          },
        };
      }),
    }));
  }

  take(event: CallEvent): void {
    const { side, wire, method } = event.call;
    switch (event.kind) {
      case "start":
        this.#of(side, wire).open.value++;
        return;
      case "question":
        return this.#questions.add([side, methodLabel(event.method)]);
      case "end": {
        const seconds = event.milliseconds / 1000;
        const counted = this.#of(side, wire);
        counted.open.value--;
        counted.methods.of(methodLabel(method)).count(event.outcome, seconds);
        if (event.bytes !== undefined) (counted.bytes ??= this.#bytes.at([side, wire])).value += event.bytes;
        if (this.#tools !== undefined && side === "listen" && method === "tools/call") this.#tool(this.#tools, event, seconds);
      }
    }
  }

  #of(side: Observed["side"], wire: string): WireCounts {
    return this.#counts[side].of(wire);
  }

  #tool(names: CappedNames, { call, outcome }: CallEvent & { readonly kind: "end" }, seconds: number): void {
    const tool = names.label(call.name ?? "", outcome === "ok" || outcome === "tool_error");
    this.#toolCalls.add([tool, outcome]);
    this.#toolSeconds.add([tool], seconds);
  }
}

class LinkMetrics {
  readonly #sessions = new Numbers("gauge", "anywire_sessions", "Legacy sessions of clients.", ["wire"]);
  readonly #opened = new Numbers("counter", "anywire_sessions_total", "Legacy sessions that clients have opened.", ["wire"]);
  readonly #upstreams = new Numbers("gauge", "anywire_upstreams", "Connections to upstreams that are ready.", ["wire"]);
  readonly #changes = new Numbers("counter", "anywire_upstream_changes_total", "What became of connections to upstreams.", [
    "wire",
    "change",
  ]);
  readonly #children = new Numbers("gauge", "anywire_children", "Child processes that run.", []);
  readonly #started = new Numbers("counter", "anywire_children_total", "Child processes that were started.", []);
  readonly #exits = new Numbers("counter", "anywire_child_exits_total", "Child processes that have ended, by how.", ["how"]);
  readonly #refusals = new Numbers("counter", "anywire_refusals_total", "What was refused, or dropped without an answer.", [
    "side",
    "wire",
    "kind",
    "rule",
  ]);
  readonly families: readonly Family[] = [
    this.#sessions,
    this.#opened,
    this.#upstreams,
    this.#changes,
    this.#children,
    this.#started,
    this.#exits,
    this.#refusals,
  ];
  /** An upstream may name any limit in its error. */
  readonly #rules = new CappedNames(RULES);
  /** Upstreams that were ready, so that the end of one that never was is not counted. */
  readonly #ready = new Map<string, number>();

  session({ kind, wire }: SessionEvent): void {
    this.#sessions.add([wire], kind === "open" ? 1 : -1);
    if (kind === "open") this.#opened.add([wire]);
  }

  upstream({ kind, wire }: UpstreamEvent): void {
    this.#changes.add([wire, kind]);
    const ready = this.#ready.get(wire) ?? 0;
    const now = kind === "ready" || kind === "restart" ? ready + 1 : kind === "lost" || kind === "exit" ? Math.max(0, ready - 1) : ready;
    this.#ready.set(wire, now);
    this.#upstreams.set([wire], now);
  }

  child(event: ChildEvent): void {
    this.#children.add([], event.kind === "start" ? 1 : -1);
    if (event.kind === "start") return this.#started.add([]);
    this.#exits.add([event.signal !== null ? "signal" : event.code === 0 ? "ok" : "error"]);
  }

  refusal({ side, wire, kind, rule }: RefusalEvent): void {
    this.#refusals.add([side, wire, kind, this.#rules.label(rule, true)]);
  }
}

function readingText({ type, name, help, label, read }: Reading): string {
  const found = read();
  const numbers = new Numbers(type, name, help, label === undefined ? [] : [label]);
  if (typeof found === "number") numbers.set([], found);
  else for (const [value, number] of Object.entries(found)) numbers.set([value], number);
  return numbers.text();
}
