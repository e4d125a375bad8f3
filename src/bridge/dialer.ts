import { setMaxListeners } from "node:events";
import { wireFor } from "../api/index.js";
import {
  type Client,
  type Connection,
  combineObservers,
  defaultTimeouts,
  type FanIn,
  Fault,
  fixedTimeouts,
  type Observer,
  type RestartOptions,
  toFault,
  type UpstreamEvent,
} from "../core/index.js";
import { Backoff } from "../stream/index.js";
import type { BridgeOptions, UpstreamState, UpstreamStatus } from "./types.js";

/** The client that a session with the server is for. */
export interface DialedAs {
  readonly client: Partial<Pick<Client, "info">> & Pick<Client, "capabilities">;
  readonly fanIn: FanIn;
}

/** A session that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;

const defaultRestart: RestartOptions = { tries: 10 };

/** The state of one session with the server. */
interface Live {
  state: "starting" | "ready" | "backing-off" | "failed";
}

/** If sessions differ, the first of these states that occurs is shown. */
const telling: readonly Live["state"][] = ["ready", "starting", "backing-off", "failed"];

const stateAfter: Partial<Record<UpstreamEvent["kind"], Live["state"]>> = { lost: "backing-off", failed: "failed", restart: "ready" };

/** Opens the sessions with the server, with a pause after failures, and tracks the state of the server. */
export class Dialer implements UpstreamStatus {
  restarts = 0;
  children = 0;
  lastFault: Fault | undefined;
  readonly #options: BridgeOptions;
  readonly #restart: RestartOptions;
  readonly #backoff: Backoff<Fault>;
  readonly #live = new Set<Live>();
  readonly #abort = new AbortController();
  #failedAt = 0;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#restart = { ...defaultRestart, ...options.restart };
    this.#backoff = new Backoff(this.#restart);
    // Each session that is being opened listens for the end of the bridge.
    setMaxListeners(0, this.#abort.signal);
  }

  get sessions(): number {
    return this.#live.size;
  }

  get state(): UpstreamState {
    if (this.#abort.signal.aborted) return "stopped";
    const found = telling.find((state) => [...this.#live].some((live) => live.state === state));
    if (found !== undefined) return found;
    if (this.#backoff.exhausted) return "failed";
    return this.#backoff.fault === undefined ? "idle" : "backing-off";
  }

  /** Opens a session with the server. Rejects with the reason if that fails. */
  async dial({ client, fanIn }: DialedAs): Promise<Connection> {
    await this.#pause();
    const { to, dial = {}, onFault, onStderr, waitMs = defaultTimeouts.waitMs } = this.#options;
    const live: Live = { state: "starting" };
    const again = this.#backoff.fault !== undefined;
    const began = Date.now();
    this.#live.add(live);
    try {
      const wire = await wireFor(to, dial.wires);
      const connection = await wire.dial(to, {
        reconnectMs: waitMs,
        ...dial,
        client,
        fanIn,
        restart: this.#restart,
        observe: this.#observer(live),
        onFault,
        onStderr,
        signal: this.#abort.signal,
      });
      live.state = "ready";
      if (again) this.restarts++;
      this.#backoff.reset();
      const since = Date.now();
      void connection.closed.then((reason) => {
        this.#live.delete(live);
        if (reason !== undefined) this.#ended(reason, since, Date.now() - since < LASTED_MS);
      });
      return connection;
    } catch (error) {
      this.#live.delete(live);
      const fault = toFault(error);
      this.#ended(fault, began, true);
      throw fault;
    }
  }

  close(): void {
    this.#abort.abort();
  }

  /** `began`: when the session was started. Sessions that began before the last failure share its cause, and are not counted again. */
  #ended(fault: Fault, began: number, failed: boolean): void {
    this.lastFault = fault;
    if (!failed || began < this.#failedAt || this.#abort.signal.aborted) return;
    this.#failedAt = Date.now();
    this.#backoff.failed(fault);
  }

  async #pause(): Promise<void> {
    for (;;) {
      if (this.#abort.signal.aborted) throw new Fault("unavailable", "the bridge was closed", { data: { reason: "closed" } });
      const { wait, exhausted, fault } = this.#backoff;
      if (wait === 0) return;
      if (exhausted)
        throw new Fault("unavailable", `the server does not start, and is tried again in ${Math.ceil(wait / 1000)} s: ${fault?.message}`, {
          cause: fault,
          data: { reason: "failed" },
        });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  #observer(live: Live): Observer {
    const own: Observer = {
      upstream: (event) => {
        live.state = stateAfter[event.kind] ?? live.state;
        if (event.kind === "restart") this.restarts++;
        if (event.kind === "lost" || event.kind === "failed") this.lastFault = event.reason;
      },
      child: ({ kind }) => {
        this.children += kind === "start" ? 1 : -1;
      },
    };
    const { observe } = this.#options;
    return observe === undefined ? own : combineObservers(own, observe);
  }
}
