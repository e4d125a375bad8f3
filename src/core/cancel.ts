import { Registry } from "../stream/index.js";
import { Fault } from "./fault.js";

/** A signal that something is no longer wanted. It costs nothing until someone listens. */
export interface Cancel {
  readonly fired: boolean;
  readonly reason?: Fault;
  /** Calls `listener` once when it fires, at once if it has; the returned function stops listening. */
  on(listener: () => void): () => void;
  /** Made on first use: for handlers that call other APIs, not for layers. */
  readonly signal: AbortSignal;
}

const noop = (): void => {};

/** An object of its own, so that the same function may listen twice. */
interface Entry {
  readonly listener: () => void;
}

/** Calls one listener. If it throws, the others are still called. */
function tell({ listener }: Entry): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** The firing end of a Cancel. */
export class Canceller implements Cancel {
  reason?: Fault;
  /** Nearly every call has one listener, which needs no set. */
  #first: Entry | undefined;
  #others: Registry<Entry> | undefined;
  #last = 0;
  #controller: AbortController | undefined;

  get fired(): boolean {
    return this.reason !== undefined;
  }

  on(listener: () => void): () => void {
    if (this.reason !== undefined) {
      listener();
      return noop;
    }
    const entry: Entry = { listener };
    const at = ++this.#last;
    if (this.#first === undefined) this.#first = entry;
    else (this.#others ??= new Registry()).set(at, entry);
    return () => {
      if (this.#first === entry) this.#first = undefined;
      else this.#others?.delete(at);
    };
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController());
      this.on(() => controller.abort(this.reason));
    }
    return this.#controller.signal;
  }

  /** The first firing counts. Listeners run at once; one that throws does not stop the others. */
  fire(reason: Fault = new Fault("cancelled", "the call was cancelled")): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) tell(first);
    // A listener that another listener removes meanwhile is not called.
    for (const at of this.#others?.ids() ?? []) {
      const entry = this.#others?.get(at);
      if (entry !== undefined) tell(entry);
    }
    this.#others = undefined;
  }
}

/** A Cancel that follows an AbortSignal; `release` unhooks it. */
export function fromSignal(signal: AbortSignal): { cancel: Canceller; release: () => void } {
  const cancel = new Canceller();
  const fire = (): void =>
    cancel.fire(
      signal.reason instanceof Fault ? signal.reason : new Fault("cancelled", "the call was cancelled", { cause: signal.reason }),
    );
  if (signal.aborted) fire();
  else signal.addEventListener("abort", fire, { once: true });
  return { cancel, release: () => signal.removeEventListener("abort", fire) };
}

/** The reason why it fired. For its listeners. */
export function reasonOf(cancel: Cancel): Fault {
  return cancel.reason ?? new Fault("cancelled", "the call was cancelled");
}

/** Never fires. */
export const neverCancelled: Cancel = {
  fired: false,
  on: () => noop,
  get signal(): AbortSignal {
    return new AbortController().signal;
  },
};
