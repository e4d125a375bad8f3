import { setMaxListeners } from "node:events";
import { wireFor } from "../api/index.js";
import {
  Canceller,
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
import { pause } from "./pause.js";
import { Recovery } from "./recovery.js";
import type { BridgeOptions, UpstreamState, UpstreamStatus } from "./types.js";

/** The client that a session with the server is for. */
export interface DialedAs {
  readonly client: Partial<Pick<Client, "info">> & Pick<Client, "capabilities">;
  readonly fanIn: FanIn;
}

/** A session that lasted this many milliseconds counts as good. */
const LASTED_MS = fixedTimeouts.lastedMs;

/** Milliseconds that a server has to answer whether it is there, if somebody waits for the state. */
const CHECK_MS = 2_000;
/** The same for a server that was lost: it may take long to start. */
const REACH_MS = 30_000;
/** How often a server is asked whether it is there because somebody wants to know, at most. */
const CHECKED_MS = 5_000;

const defaultRestart: RestartOptions = { tries: 10 };

/** The state of one session with the server. */
interface Live {
  state: "starting" | "ready" | "backing-off" | "failed";
  connection?: Connection;
}

/** If sessions with processes differ, the first of these states that occurs is shown. */
const telling: readonly Live["state"][] = ["ready", "starting", "backing-off", "failed"];

const stateAfter: Partial<Record<UpstreamEvent["kind"], Live["state"]>> = { lost: "backing-off", failed: "failed", restart: "ready" };

/** Opens the sessions with the server, with a pause after failures, and tracks the state of the server. */
export class Dialer implements UpstreamStatus {
  restarts = 0;
  children = 0;
  lastFault: Fault | undefined;
  /** Whether the server was lost and is not back. */
  isAway = false;
  readonly #options: BridgeOptions;
  readonly #restart: RestartOptions;
  readonly #backoff: Backoff<Fault>;
  readonly #live = new Set<Live>();
  /** The session with a remote server whose state was last learned, which counts for all of them. */
  #last: Live | undefined;
  readonly #recovery: Recovery;
  readonly #over = new Canceller();
  #failedAt = 0;
  #checked = 0;
  #checking: Promise<void> | undefined;
  /** Opens a session with a server that has none. */
  open: () => Promise<void> = () => Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#restart = { ...defaultRestart, ...options.restart };
    this.#backoff = new Backoff(this.#restart);
    this.#recovery = new Recovery({
      restart: this.#restart,
      over: this.#over,
      isAway: () => this.isAway,
      reach: () => this.#reach(REACH_MS),
    });
    // Each session that is being opened listens for the end of the bridge.
    setMaxListeners(0, this.#over.signal);
  }

  get sessions(): number {
    return this.#live.size;
  }

  get state(): UpstreamState {
    if (this.#over.fired) return "stopped";
    const refused = this.#backoff.fault !== undefined;
    if (!refused || !this.#isRemote) {
      const found = this.#last?.state ?? telling.find((state) => [...this.#live].some((live) => live.state === state));
      if (found === "backing-off" && this.#recovery.exhausted) return "failed";
      if (found !== undefined) return found;
    }
    if (this.#backoff.exhausted) return "failed";
    return refused ? "backing-off" : "idle";
  }

  /** Whether the server is not a process of the bridge. All sessions then lead to the same one. */
  get #isRemote(): boolean {
    return typeof this.#options.to === "string";
  }

  /** The state, after a remote server was asked whether it is there: that it was lost, or is back, may not have been noticed. */
  async check(): Promise<UpstreamState> {
    if (this.#live.size > 0 && this.#isRemote && Date.now() - this.#checked >= CHECKED_MS) {
      this.#checked = Date.now();
      this.#checking = this.#reach(CHECK_MS);
    }
    await this.#checking?.catch(() => {});
    return this.state;
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
        signal: this.#over.signal,
      });
      live.connection = connection;
      if (again) this.restarts++;
      this.#backoff.reset();
      this.#learned(live, "ready");
      const since = Date.now();
      void connection.closed.then((reason) => {
        this.#forget(live);
        if (reason !== undefined) this.#ended(reason, since, Date.now() - since < LASTED_MS);
      });
      return connection;
    } catch (error) {
      this.#forget(live);
      const fault = toFault(error);
      this.#ended(fault, began, true);
      throw fault;
    }
  }

  close(): void {
    this.#over.fire(new Fault("unavailable", "the bridge was closed", { data: { reason: "closed" } }));
  }

  /** `began`: when the session was started. Sessions that began before the last failure share its cause, and are not counted again. */
  #ended(fault: Fault, began: number, failed: boolean): void {
    this.lastFault = fault;
    if (began < this.#failedAt || this.#over.fired) return;
    this.#failedAt = Date.now();
    if (!failed) this.#backoff.reset();
    this.#backoff.failed(fault);
    this.#update();
  }

  #learned(live: Live, state: Live["state"]): void {
    live.state = state;
    if (this.#isRemote) this.#last = live;
    this.#update();
  }

  #forget(live: Live): void {
    this.#live.delete(live);
    if (this.#last === live) this.#last = undefined;
    this.#update();
  }

  #update(): void {
    const { state } = this;
    this.isAway = state === "backing-off" || state === "failed";
    if (this.isAway) this.#recovery.begin();
  }

  /** Tries to reach the server on a session that was lost, on any other, or on a new one if there is none. */
  async #reach(ms: number): Promise<void> {
    const all = [...this.#live];
    const asked = this.#last ?? all.find(({ state }) => state !== "ready") ?? all[0];
    if (asked === undefined) {
      await pause(this.#backoff.wait, this.#over);
      return this.isAway ? this.open() : undefined;
    }
    await this.#ask(asked, ms);
    // The server has refused a session, and is there again.
    if (asked.state === "ready") this.#backoff.reset();
    this.#update();
  }

  /** Asks the server of a session whether it is there. What that shows is learned from the session. */
  async #ask(live: Live, ms: number): Promise<void> {
    const cancel = new Canceller();
    const unhook = this.#over.on(() => cancel.fire());
    const timer = setTimeout(() => cancel.fire(), ms);
    try {
      await live.connection?.check?.(cancel);
    } finally {
      clearTimeout(timer);
      unhook();
    }
  }

  async #pause(): Promise<void> {
    for (;;) {
      if (this.#over.reason !== undefined) throw this.#over.reason;
      const { wait, exhausted, fault } = this.#backoff;
      if (wait === 0) return;
      if (exhausted)
        throw new Fault("unavailable", `the server does not start, and is tried again in ${Math.ceil(wait / 1000)} s: ${fault?.message}`, {
          cause: fault,
          data: { reason: "failed" },
        });
      await pause(wait, this.#over);
    }
  }

  #observer(live: Live): Observer {
    const own: Observer = {
      upstream: (event) => {
        if (event.kind === "restart") this.restarts++;
        if (event.kind === "lost" || event.kind === "failed") this.lastFault = event.reason;
        const state = stateAfter[event.kind];
        if (state !== undefined) this.#learned(live, state);
      },
      child: ({ kind }) => {
        this.children += kind === "start" ? 1 : -1;
      },
    };
    const { observe } = this.#options;
    return observe === undefined ? own : combineObservers(own, observe);
  }
}
