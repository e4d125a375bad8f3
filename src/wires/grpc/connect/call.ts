import { type BinaryReadOptions, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { Account, type Cancel, Canceller, type CredentialWatch, Fault, toFault } from "../../../core/index.js";
import { faultStatus, type GrpcPeer, type Metadata, type ReceivedMessages, type Status, statusFault } from "../../../io/index.js";
import { concat } from "../../../stream/index.js";
import type { AdmittedCall } from "../listen/caller.js";

/** Bytes that wait for the client before the producer has to wait. */
const HIGH_WATER = 64 * 1024;

/** The HTTP details of a request that Connect does not pass on. */
export interface AcceptedRequest {
  readonly metadata: Metadata;
  readonly authority: string | undefined;
  readonly peer: GrpcPeer;
  readonly remote: string | undefined;
  readonly principal: string | undefined;
  readonly credentials?: CredentialWatch | undefined;
  readonly account: Account;
  readonly messages: ReceivedMessages;
}

async function* none(): AsyncGenerator<readonly Uint8Array[]> {}

export const acceptedKey: { id: symbol; defaultValue: AcceptedRequest } = createContextKey<AcceptedRequest>({
  metadata: {},
  authority: undefined,
  peer: {},
  remote: undefined,
  principal: undefined,
  account: new Account(undefined),
  messages: none(),
});

type State = { tag: "open"; begun: boolean } | { tag: "ended"; error: ConnectError | undefined };

/** A Connect or gRPC-Web call in the form that the gRPC handlers expect: bytes of messages both ways. */
export class ConnectCall implements AdmittedCall {
  readonly path: string;
  readonly deadline: number | undefined;
  readonly admitted: AdmittedCall["admitted"];
  readonly messages: ReceivedMessages;
  readonly #context: HandlerContext;
  readonly #accepted: AcceptedRequest;
  readonly #reading: Partial<BinaryReadOptions>;
  readonly #canceller = new Canceller();
  readonly #queue: Uint8Array[] = [];
  readonly #held: { resolve(): void; reject(fault: Fault): void }[] = [];
  #state: State = { tag: "open", begun: false };
  #wake: (() => void) | undefined;
  #bytes = 0;

  constructor(context: HandlerContext, requests: AsyncIterable<Message>, reading: Partial<BinaryReadOptions>) {
    const { method, service, signal } = context;
    this.path = `/${service.typeName}/${method.name}`;
    const ms = context.timeoutMs();
    this.deadline = ms === undefined ? undefined : Date.now() + ms;
    this.#context = context;
    this.#reading = reading;
    this.#accepted = context.values.get(acceptedKey);
    this.admitted = this.#accepted;
    this.messages = after(requests, this.#accepted.messages);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get metadata(): Metadata {
    return this.#accepted.metadata;
  }

  get hosts(): readonly string[] {
    return this.#accepted.authority === undefined ? [] : [this.#accepted.authority];
  }

  get peer(): GrpcPeer {
    return this.#accepted.peer;
  }

  get account(): Account {
    return this.#accepted.account;
  }

  get cancel(): Cancel {
    return this.#canceller;
  }

  get backlog(): number {
    return this.#bytes;
  }

  /** The headers are sent with the first message: Connect has no other way. */
  begin(metadata: Metadata = {}): void {
    if (this.#state.tag === "ended" || this.#state.begun) return;
    this.#state.begun = true;
    append(this.#context.responseHeader, metadata);
  }

  send(head: Uint8Array, tail?: Uint8Array): Promise<void> | undefined {
    const message = tail === undefined ? head : concat([head, tail]);
    if (this.#state.tag === "ended") return gone(this.#canceller.reason);
    this.#state.begun = true;
    this.#queue.push(message);
    this.#bytes += message.byteLength;
    this.#awaken();
    if (this.#bytes < HIGH_WATER) return undefined;
    const room = new Promise<void>((resolve, reject) => this.#held.push({ resolve, reject }));
    room.catch(() => {});
    return room;
  }

  end(status: Status): void {
    if (this.#state.tag === "ended") return;
    if (status.code === 0) append(this.#context.responseTrailer, status.metadata ?? {});
    this.#finish(status.code === 0 ? undefined : connectError(status));
  }

  /** The answer, message by message. If they are not taken, the producer waits; leaving cancels the call. */
  async *responses(): AsyncGenerator<Message> {
    try {
      for (;;) {
        const message = this.#queue.shift();
        if (message !== undefined) {
          this.#bytes -= message.byteLength;
          if (this.#bytes < HIGH_WATER) for (const { resolve } of this.#held.splice(0)) resolve();
          yield fromBinary(this.#context.method.output, message, this.#reading);
        } else if (this.#state.tag === "ended") {
          if (this.#state.error !== undefined) throw this.#state.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#abandon(new Fault("cancelled", "the client cancelled the call or disconnected"));
    }
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#context.signal as { readonly reason: unknown };
    if (reason instanceof Fault) this.#abandon(reason, connectError(faultStatus(reason)));
    else if (reason instanceof ConnectError && reason.code === Code.DeadlineExceeded)
      this.#abandon(new Fault("deadline", "the deadline passed", { cause: reason }), reason);
    else this.#abandon(new Fault("cancelled", "the client cancelled the call or disconnected", { cause: reason }));
  };

  /** Ends a call that nobody waits for any more, and drops what waits. */
  #abandon(fault: Fault, error: ConnectError = new ConnectError(fault.message, Code.Canceled)): void {
    if (this.#state.tag === "open") {
      this.#finish(error);
      this.#canceller.fire(fault);
    }
    this.#queue.length = 0;
    this.#bytes = 0;
    for (const { reject } of this.#held.splice(0)) reject(fault);
  }

  #finish(error: ConnectError | undefined): void {
    this.#state = { tag: "ended", error };
    this.#context.signal.removeEventListener("abort", this.#onAbort);
    this.#awaken();
  }

  #awaken(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

function gone(reason: Fault | undefined): Promise<void> {
  const rejected = Promise.reject(reason ?? new Fault("internal", "the call has ended"));
  rejected.catch(() => {});
  return rejected;
}

/** Reads the stand-in that Connect was given before the messages: Connect reports errors in the headers while it is read. */
async function* after(standIn: AsyncIterable<Message>, messages: ReceivedMessages): AsyncGenerator<readonly Uint8Array[]> {
  try {
    for await (const _ of standIn);
  } catch (error) {
    throw error instanceof ConnectError ? statusFault({ code: error.code, message: error.rawMessage }) : toFault(error);
  }
  yield* messages;
}

function append(headers: Headers, metadata: Metadata): void {
  for (const [name, value] of Object.entries(metadata))
    for (const each of typeof value === "string" ? [value] : value) headers.append(name, each);
}

function connectError({ code, message = "", metadata = {} }: Status): ConnectError {
  const headers = new Headers();
  append(headers, metadata);
  return new ConnectError(message, code, headers);
}
