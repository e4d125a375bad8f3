import {
  type AnswerPart,
  type Id,
  isBatch,
  type LinkMessage,
  type Outgoing,
  type OutgoingMessage,
  receivedMessage,
  sentMessage,
} from "../../codec/index.js";
import {
  type Era,
  type Fault,
  type Frame,
  type JsonObject,
  notifyObserver,
  type Observed,
  type Observer,
  type RefusalEvent,
  type Request,
  refusalOf,
  type UpstreamChange,
  type WireOptions,
} from "../../core/index.js";
import { anywireKeys } from "../keys.js";
import { CallWatch } from "./call-watch.js";

/** Reports to an observer what passes on one link. */
export class LinkWatch {
  readonly observer: Observer;
  at: Observed;

  constructor(observer: Observer, at: Observed) {
    this.observer = observer;
    this.at = at;
  }

  call(era: Era, request: Request, identity?: string): CallWatch {
    return new CallWatch(this.observer, { side: this.at.side, wire: this.at.wire, identity }, era, request);
  }

  sent(message: Outgoing): void {
    if (this.observer.frame === undefined) return;
    this.#frame("sent", isBatch(message) ? message.map(objectOf) : objectOf(message));
  }

  received(message: LinkMessage): void {
    if (this.observer.frame === undefined || message.kind === "bad") return;
    if (message.kind === "notification" && message.method === anywireKeys.renewed) return;
    if (message.kind === "part") return this.part("received", message.id, message.part);
    this.#frame(
      "received",
      message.kind === "batch"
        ? message.messages.filter(({ kind }) => kind !== "bad").map((each) => objectOf(receivedMessage(each)))
        : objectOf(receivedMessage(message)),
    );
  }

  part(direction: Frame["direction"], id: Id, part: AnswerPart): void {
    if (this.observer.frame !== undefined) this.#frame(direction, { id, part });
  }

  refusal(kind: RefusalEvent["kind"], fault: Fault, method?: string): void {
    notifyObserver(this.observer, "refusal", refusalOf(fault, this.at, kind, method));
  }

  upstream(event: UpstreamChange): void {
    notifyObserver(this.observer, "upstream", { ...this.at, ...event });
  }

  #frame(direction: Frame["direction"], message: Frame["message"]): void {
    const { side, wire, identity } = this.at;
    notifyObserver(this.observer, "frame", { side, wire, identity, direction, message });
  }
}

/** The watch for a wire's options; undefined if there is no observer, so that it costs nothing. */
export function linkWatch({ observe, wire = "link" }: WireOptions, { side, identity }: Omit<Observed, "wire">): LinkWatch | undefined {
  return observe === undefined ? undefined : new LinkWatch(observe, { side, wire, identity });
}

/** The options of a wire under its name. Whatever goes to `onFault` is also reported to the observer, as dropped. */
export function observedAs<O extends WireOptions>(options: O, side: Observed["side"], wire: string): O {
  const { observe, onFault } = options;
  if (observe === undefined) return options;
  const dropped = (fault: Fault): void => {
    notifyObserver(observe, "refusal", refusalOf(fault, { side, wire }, "dropped"));
    onFault?.(fault);
  };
  return { ...options, wire, onFault: dropped };
}

function objectOf(message: OutgoingMessage): JsonObject {
  return { ...sentMessage(message) };
}
