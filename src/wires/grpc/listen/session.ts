import { type AnswerPart, hasRoom, type Id, type Incoming, isBatch, type Outgoing, type OutgoingMessage } from "../../../codec/index.js";
import { Caller, Fault, fixedTimeouts, type Service, toFault, toRpcError } from "../../../core/index.js";
import { idleCaller, type ServeLinkOptions, type Serving, serving, type TableSession } from "../../../era/index.js";
import type { ServerCall } from "../../../io/index.js";
import { mcpStatus } from "../faults.js";
import type { RpcAnswer } from "./answers.js";
import type { SessionStream } from "./session-stream.js";
import { traits } from "./traits.js";
import { TURN, turn } from "./turns.js";

/** Questions that may wait for a stream. */
const HELD = 16;

export interface GrpcSessionOptions extends ServeLinkOptions {
  readonly id: string;
  /** Whether the Initialize RPC began it, so that it outlives its stream. */
  readonly lasting: boolean;
  /** Ends the session because another needs its place. */
  readonly displace: (reason: Fault) => void;
}

/** A client with several calls: on one `Session` stream, as RPCs that name the session, or both. */
export class GrpcSession implements TableSession {
  readonly id: string;
  readonly principal: string | undefined;
  /** The caller in the session, also of separate RPCs that name it. */
  readonly identity: Caller;
  readonly lasting: boolean;
  /** When it was last used. */
  touched: number = Date.now();
  readonly #serving: Serving;
  readonly #rpcs = new Map<Id, RpcAnswer>();
  #stream: SessionStream | undefined;
  #call: ServerCall | undefined;
  /** Questions that wait for a stream. */
  readonly #held = new Set<(stream: SessionStream | undefined) => void>();

  constructor(service: Service, options: GrpcSessionOptions) {
    this.id = options.id;
    this.principal = options.principal;
    this.identity = new Caller({ principal: options.principal, remote: options.remote, idle: idleCaller(this, options.displace) });
    this.lasting = options.lasting;
    const stream = (): SessionStream | undefined => this.#stream;
    this.#serving = serving(
      service,
      {
        get backlog() {
          return stream()?.backlog ?? 0;
        },
        traits,
        send: (message, options) => this.#send(message, options?.call),
        part: (call, part) => this.#part(call, part),
      },
      { ...options, identity: this.identity },
    );
  }

  get connected(): boolean {
    return this.#stream !== undefined || this.#rpcs.size > 0;
  }

  get idleSince(): number | undefined {
    return this.connected || this.#serving.asking ? undefined : this.touched;
  }

  /** Takes a request that came as a separate RPC. */
  take(message: Incoming & { readonly kind: "request" }, answer: RpcAnswer): void {
    this.touched = Date.now();
    this.#rpcs.set(message.id, answer);
    void this.#serving.take(message);
  }

  /** Called when an RPC has ended, for whatever reason. */
  forget(id: Id, reason?: Fault): void {
    this.touched = Date.now();
    if (!this.#rpcs.delete(id) || reason === undefined) return;
    const params = { requestId: id, reason: reason.message };
    void this.#serving.take({ kind: "notification", method: "notifications/cancelled", params });
  }

  /** Tells the session that its client is ready: RPCs have no notifications. */
  start(): void {
    void this.#serving.take({ kind: "notification", method: "notifications/initialized", params: {} });
  }

  get streaming(): boolean {
    return this.#stream !== undefined;
  }

  /** Serves its one stream until that ends. Calls that are still open then end with it. */
  async serve(call: ServerCall, stream: SessionStream): Promise<void> {
    this.#stream = stream;
    this.#call = call;
    for (const open of [...this.#held]) open(stream);
    try {
      for await (const frames of call.messages) {
        let taken = 0;
        for (const frame of frames) {
          if (taken++ === TURN) {
            await turn();
            taken = 1;
          }
          const message = stream.read(frame);
          const before = stream.before(message);
          if (before !== undefined) await this.#serving.take(before);
          const waiting = this.#serving.take(message);
          const told = stream.after(message);
          if (waiting !== undefined) await waiting;
          if (told !== undefined) await told;
        }
      }
      // A client that closed its side may still read, so calls that are nearly done are answered.
      await this.#serving.idle(fixedTimeouts.halfClosedMs);
    } finally {
      for (const requestId of stream.open) {
        const params = { requestId, reason: "the stream of the call has ended" };
        void this.#serving.take({ kind: "notification", method: "notifications/cancelled", params });
      }
      this.#stream = undefined;
      this.#call = undefined;
      this.touched = Date.now();
    }
  }

  drain(reason: Fault, ms: number): Promise<void> {
    return this.#serving.drain(reason, ms);
  }

  end(reason: Fault): void {
    const error = toRpcError(reason, "legacy");
    for (const answer of this.#rpcs.values()) void answer.send({ jsonrpc: "2.0", id: null, error, fault: reason });
    this.#rpcs.clear();
    for (const open of [...this.#held]) open(undefined);
    this.#serving.end(reason);
    this.identity.end();
    this.#call?.end(mcpStatus(reason));
  }

  #send(message: Outgoing, call: Id | undefined): Promise<void> {
    if (isBatch(message)) return Promise.reject(new Fault("internal", "a batch has no place on gRPC"));
    const one = message;
    const id = "method" in one ? ("id" in one ? undefined : call) : one.id;
    const rpc = id === undefined || id === null ? undefined : this.#rpcs.get(id);
    try {
      if (rpc !== undefined) return rpc.send(one) ?? hasRoom;
      if (this.#stream !== undefined) return this.#stream.send(one, call);
    } catch (error) {
      return Promise.reject(toFault(error));
    }
    // Without a stream, the client can only get its answers.
    if (!("method" in one && "id" in one)) return hasRoom;
    return call === undefined && this.lasting ? this.#later(one) : Promise.reject(unasked());
  }

  /** A question outside any call waits a while for the stream that the client may be about to open. */
  #later(question: OutgoingMessage): Promise<void> {
    if (this.#held.size >= HELD) return Promise.reject(unasked());
    return new Promise((resolve, reject) => {
      const open = (stream: SessionStream | undefined): void => {
        clearTimeout(timer);
        this.#held.delete(open);
        if (stream === undefined) reject(unasked());
        else stream.send(question, undefined).then(resolve, reject);
      };
      const timer = setTimeout(open, fixedTimeouts.questionMs, undefined);
      this.#held.add(open);
    });
  }

  #part(id: Id, part: AnswerPart): Promise<void> | undefined {
    const rpc = this.#rpcs.get(id);
    if (rpc !== undefined) return rpc.part(part);
    return this.#stream?.part(id, part);
  }
}

function unasked(): Fault {
  return new Fault("unknown-method", "the client has no stream open to be asked on");
}
