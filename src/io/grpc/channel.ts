import { defaultLimits, defaultTimeouts, Fault, fixedTimeouts, toFault } from "../../core/index.js";
import { Backoff } from "../../stream/index.js";
import { GrpcClientCall } from "./client-call.js";
import { ACCEPTED } from "./coding.js";
import { type GoneReason, GrpcConnection, type GrpcConnectionOptions } from "./connection.js";
import { clientKeepalive, type PingOptions } from "./keepalive.js";
import { listMetadata } from "./metadata.js";
import type { Channel, ChannelState, ClientCall, GrpcCallOptions, GrpcChannelOptions, GrpcTarget } from "./types.js";

const MAX_CONNECTIONS = 8;
/** A call waits for the next attempt to connect if it is at most this many milliseconds away. Otherwise it fails at once. */
const PATIENCE_MS = 1000;
/** From this many calls on one connection, a second connection is worth opening. */
const BUSY_CALLS = 8;

/** A client of the first target that can be reached. */
export function grpcChannel(targets: readonly GrpcTarget[], options: GrpcChannelOptions = {}): Channel {
  if (targets.length === 0) throw new Fault("invalid-params", "a channel needs a target");
  return new PickFirst(targets, options);
}

class PickFirst implements Channel {
  readonly #targets: readonly GrpcTarget[];
  readonly #options: GrpcChannelOptions;
  readonly #ready = new Set<GrpcConnection>();
  /** Connections that take no new calls but still have open ones. */
  readonly #leaving = new Set<GrpcConnection>();
  readonly #waiting = new Set<GrpcClientCall>();
  readonly #calls = new Set<GrpcClientCall>();
  readonly #backoff = new Backoff<Fault>();
  #keepalive: PingOptions;
  #attempt: { readonly connection: GrpcConnection; readonly at: number; readonly tried: number } | undefined;
  /** Where the next attempt begins: the target that worked last. */
  #first = 0;
  #closed = false;

  constructor(targets: readonly GrpcTarget[], options: GrpcChannelOptions) {
    this.#targets = targets;
    this.#options = options;
    this.#keepalive = options.keepalive ?? clientKeepalive;
  }

  get state(): ChannelState {
    if (this.#closed) return "closed";
    if (this.#ready.size > 0) return "ready";
    if (this.#attempt !== undefined) return "connecting";
    return this.#backoff.wait > 0 ? "backoff" : "idle";
  }

  call(path: string, options: GrpcCallOptions = {}): ClientCall {
    const { gzip = this.#options.gzip ?? false, deadline, narrow = false } = options;
    const call = new GrpcClientCall({
      headers: this.#headers(path, gzip, options),
      deadline,
      gzip,
      narrow,
      messageBytes: this.#options.messageBytes ?? defaultLimits.messageBytes,
      onOver: this.#onOver,
      onRefused: this.#place,
    });
    if (this.#closed) {
      call.fail(closedFault());
      return call;
    }
    this.#calls.add(call);
    this.#place(call);
    return call;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#backoff.stop();
    for (const call of this.#calls) call.fail(closedFault());
    const connections = [...this.#ready, ...this.#leaving];
    if (this.#attempt !== undefined) connections.push(this.#attempt.connection);
    await Promise.all(connections.map((connection) => connection.close(fixedTimeouts.lastAnswersMs)));
  }

  /** Names and values alternate. */
  #headers(path: string, gzip: boolean, { metadata }: GrpcCallOptions): string[] {
    const { acceptGzip = true, userAgent = "anywire" } = this.#options;
    const headers = [":path", path, "te", "trailers", "content-type", "application/grpc", "user-agent", userAgent];
    if (gzip) headers.push("grpc-encoding", "gzip");
    if (acceptGzip) headers.push("grpc-accept-encoding", ACCEPTED);
    listMetadata(headers, metadata);
    return headers;
  }

  readonly #onOver = (call: GrpcClientCall): void => {
    this.#calls.delete(call);
    this.#waiting.delete(call);
  };

  /** Gives a call a connection, or makes it wait for one. */
  readonly #place = (call: GrpcClientCall): void => {
    const connection = this.#free();
    if (connection !== undefined) {
      connection.start(call);
      return;
    }
    this.#waiting.add(call);
    this.#more();
  };

  /** The least busy connection that takes a call. */
  #free(): GrpcConnection | undefined {
    let best: GrpcConnection | undefined;
    for (const connection of this.#ready) {
      if (connection.free && (best === undefined || connection.calls < best.calls)) best = connection;
    }
    // All calls of a connection travel together, so each end waits while the other works. A second connection keeps both busy.
    if (best !== undefined && best.calls >= BUSY_CALLS && this.#ready.size < (this.#options.spread ?? 1) && this.#attempt === undefined) {
      if (this.#backoff.wait <= 0 && !this.#closed) this.#connect(this.#first, 0);
    }
    return best;
  }

  /** Makes sure that waiting calls get a connection, or fail. If no other can be opened, they get the next free stream of any. */
  #more(): void {
    if (this.#attempt !== undefined || this.#closed) return;
    if (this.#ready.size >= Math.max(1, this.#options.maxConnections ?? MAX_CONNECTIONS)) return;
    const { wait } = this.#backoff;
    if (wait <= 0) this.#connect(this.#first, 0);
    else if (this.#ready.size > 0 || wait <= PATIENCE_MS) this.#backoff.after(this.#dispatch);
    else this.#failWaiting(this.#backoff.fault ?? closedFault());
  }

  #connect(at: number, tried: number): void {
    const options: GrpcConnectionOptions = {
      keepalive: this.#keepalive,
      connectMs: this.#options.connectMs ?? defaultTimeouts.connectMs,
      http2: this.#options.http2 ?? "own",
      onReady: (ready) => {
        this.#attempt = undefined;
        this.#first = at;
        this.#ready.add(ready);
        this.#dispatch();
      },
      onFree: this.#dispatch,
      onClosed: (closed) => this.#leaving.delete(closed),
      onGone: (gone, fault, how) => this.#onGone(gone, fault, how),
    };
    try {
      this.#attempt = { connection: new GrpcConnection(this.#targets[at] as GrpcTarget, options), at, tried };
    } catch (error) {
      // Opening the socket may throw: a child that cannot be started, an invalid certificate.
      this.#failed(
        at,
        tried,
        new Fault("unavailable", `cannot connect: ${toFault(error).message}`, { cause: error, data: { reason: "failed" } }),
      );
    }
  }

  readonly #dispatch = (): void => {
    for (const call of this.#waiting) {
      const connection = this.#free();
      if (connection === undefined) {
        this.#more();
        return;
      }
      this.#waiting.delete(call);
      connection.start(call);
    }
  };

  #onGone(connection: GrpcConnection, fault: Fault, how: GoneReason): void {
    // Some servers allow few PINGs and say so. The specification then asks to double the interval.
    if (how === "pinged") this.#keepalive = { ...this.#keepalive, intervalMs: this.#keepalive.intervalMs * 2 };
    if (this.#ready.delete(connection)) {
      this.#leaving.add(connection);
      if (how !== "asked" && Date.now() - connection.since < fixedTimeouts.lastedMs) this.#backoff.failed(fault);
      else this.#backoff.reset();
      if (this.#waiting.size > 0) this.#more();
      return;
    }
    const attempt = this.#attempt;
    if (attempt?.connection !== connection) return;
    this.#attempt = undefined;
    if (!this.#closed) this.#failed(attempt.at, attempt.tried, fault);
  }

  /** An attempt failed: tries the next target, or gives up for now. */
  #failed(at: number, tried: number, fault: Fault): void {
    if (tried + 1 < this.#targets.length) {
      this.#connect((at + 1) % this.#targets.length, tried + 1);
      return;
    }
    this.#backoff.failed(fault);
    if (this.#ready.size > 0) this.#more();
    else this.#failWaiting(fault);
  }

  #failWaiting(fault: Fault): void {
    for (const call of this.#waiting) call.fail(fault);
  }
}

function closedFault(): Fault {
  return new Fault("unavailable", "the channel was closed", { data: { reason: "closed" } });
}
