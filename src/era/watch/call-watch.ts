import {
  type CallOutcome,
  type Era,
  type Fault,
  isObject,
  type JsonObject,
  notifyObserver,
  type Observed,
  type ObservedCall,
  type Observer,
  type Reply,
  type Request,
  weigh,
} from "../../core/index.js";
import { weighPart } from "../size.js";

/** Reports one call to an observer, from its start to its one end. */
export class CallWatch {
  readonly #observer: Observer;
  readonly #call: ObservedCall;
  readonly #began = performance.now();
  /** Bytes of the answer that came in parts. */
  #bytes = 0;
  #ended = false;

  constructor(observer: Observer, at: Observed, era: Era, { method, params }: Request) {
    this.#observer = observer;
    // Member by member, here and below: an object that begins with a spread takes longer than everything else here.
    this.#call = { side: at.side, wire: at.wire, identity: at.identity, era, method, name: subjectOf(params) };
    notifyObserver(observer, "call", { kind: "start", call: this.#call });
  }

  progress(params: JsonObject): void {
    notifyObserver(this.#observer, "call", { kind: "progress", call: this.#call, params });
  }

  question(method: string): void {
    notifyObserver(this.#observer, "call", { kind: "question", call: this.#call, method });
  }

  /** Anything that comes back for the call. */
  reply(reply: Reply): void {
    switch (reply.kind) {
      case "progress":
        return this.progress(reply.params);
      case "ask":
        return this.question(reply.ask.request.method);
      case "result":
        return this.result(reply.value);
      case "item":
      case "page":
      case "content":
      case "chunk":
        this.#bytes += weighPart(reply);
    }
  }

  result(value: JsonObject): void {
    const outcome = outcomeOf(value);
    if (outcome === "input_required" && isObject(value["inputRequests"]))
      for (const request of Object.values(value["inputRequests"])) if (isObject(request)) this.question(String(request["method"]));
    this.#end(outcome, undefined, this.#bytes + weigh(value));
  }

  fail(fault: Fault): void {
    this.#end(fault.code, fault, undefined);
  }

  #end(outcome: CallOutcome, fault: Fault | undefined, bytes: number | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    const milliseconds = performance.now() - this.#began;
    notifyObserver(this.#observer, "call", { kind: "end", call: this.#call, outcome, fault, bytes, milliseconds });
  }
}

function outcomeOf({ resultType, isError }: JsonObject): CallOutcome {
  if (resultType === "input_required") return "input_required";
  return isError === true ? "tool_error" : "ok";
}

/** The tool, prompt or URI that a request names, including that of a completion. */
function subjectOf({ name, uri, ref }: JsonObject): string | undefined {
  const found = name ?? uri ?? (isObject(ref) ? (ref["name"] ?? ref["uri"]) : undefined);
  return typeof found === "string" ? found : undefined;
}
