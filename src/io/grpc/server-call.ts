import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from "node:http2";
import { type Account, type Cancel, Canceller, Fault, toFault } from "../../core/index.js";
import { ignore } from "../../stream/index.js";
import { hostsOf } from "../http/hosts.js";
import { claimRequest } from "../http/open-request.js";
import { acceptsGzip, isEncoding } from "./coding.js";
import { runAt } from "./expiry.js";
import { Inbox } from "./inbox.js";
import { addMetadata, receivedMetadata } from "./metadata.js";
import { Outbox } from "./outbox.js";
import { percentEncode } from "./percent.js";
import { reset } from "./reset.js";
import { DEADLINE_EXCEEDED, faultStatus, INTERNAL } from "./status.js";
import { parseTimeout } from "./timeout.js";
import type { GrpcPeer, Metadata, ReceivedMessages, ServerCall, Status } from "./types.js";

export interface AcceptedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[] | undefined;
  readonly peer: () => GrpcPeer;
  readonly messageBytes: number;
  readonly messageMs: number;
  readonly account: Account;
  readonly gzip: boolean;
  /** Names of the encodings that are accepted. */
  readonly encodings: string;
  /** The client was paused because nobody reads, or continues. */
  readonly onHold: (call: IncomingCall, held: boolean) => void;
  /** The stream has closed, and nothing of the call is left. */
  readonly onClose: (call: IncomingCall) => void;
}

/** Without a date: gRPC does not use it, and clients would see it as metadata. Node supports the option; its types do not have it. */
const withTrailers: ServerStreamResponseOptions = { waitForTrailers: true, ...{ sendDate: false } };
const trailersOnly: ServerStreamResponseOptions = { endStream: true, ...{ sendDate: false } };

/** The states in order: nothing sent, headers sent, status given. */
type State = "fresh" | "begun" | "ended";

/** A server's call on its stream. */
export class IncomingCall implements ServerCall {
  readonly path: string;
  readonly deadline: number | undefined;
  readonly #accepted: AcceptedStream;
  readonly #stream: ServerHttp2Stream;
  readonly #canceller = new Canceller();
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #forget: () => void;
  #metadata: Metadata | undefined;
  #state: State = "fresh";
  #trailers: OutgoingHttpHeaders | undefined;
  #compressed = false;

  constructor(accepted: AcceptedStream) {
    const { stream, headers, messageBytes, messageMs, account } = accepted;
    this.#accepted = accepted;
    this.#stream = stream;
    this.path = headers[":path"] as string;
    const timeout = headers["grpc-timeout"];
    const ms = typeof timeout === "string" ? parseTimeout(timeout) : undefined;
    this.deadline = ms === undefined ? undefined : Date.now() + ms;
    this.#forget = this.deadline === undefined ? ignore : runAt(this.deadline, this.#expire);
    this.#inbox = new Inbox({
      messageBytes,
      messageMs,
      account,
      onEnd: this.#onEnd,
      onLeave: ignore,
      onHold: (held) => accepted.onHold(this, held),
    });
    this.#outbox = new Outbox({ account });
    const encoding = headers["grpc-encoding"];
    if (typeof encoding === "string" && isEncoding(encoding)) this.#inbox.encoding = encoding;
    if (accepted.gzip && acceptsGzip(headers["grpc-accept-encoding"])) {
      this.#outbox.encoding = "gzip";
      this.#compressed = true;
    }
    // Errors of the stream end in its close event.
    stream.on("error", ignore);
    stream.on("close", this.#onClose);
    stream.on("wantTrailers", this.#onWantTrailers);
    stream.on("data", (chunk: Uint8Array) => this.#inbox.take(chunk, false));
    stream.on("end", () => this.#inbox.ended());
    this.#inbox.open(stream);
    this.#outbox.open(stream);
  }

  get metadata(): Metadata {
    return (this.#metadata ??= receivedMetadata(this.#accepted.headers, this.#accepted.rawHeaders));
  }

  get hosts(): readonly string[] {
    const { headers, rawHeaders } = this.#accepted;
    return hostsOf(headers, rawHeaders ?? []);
  }

  get cancel(): Cancel {
    return this.#canceller;
  }

  get account(): Account {
    return this.#accepted.account;
  }

  claim(principal: string): void {
    claimRequest(this.#stream, principal);
    this.#inbox.claim(principal);
    this.#outbox.claim(principal);
  }

  get peer(): GrpcPeer {
    return this.#accepted.peer();
  }

  get messages(): ReceivedMessages {
    return this.#inbox;
  }

  get backlog(): number {
    return this.#outbox.backlog;
  }

  begin(metadata?: Metadata): void {
    if (this.#state !== "fresh") return;
    const headers: OutgoingHttpHeaders = {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-accept-encoding": this.#accepted.encodings,
    };
    if (this.#compressed) headers["grpc-encoding"] = "gzip";
    addMetadata(headers, metadata);
    this.#state = "begun";
    if (this.#gone) return;
    this.#stream.respond(headers, withTrailers);
  }

  send(message: Uint8Array, tail?: Uint8Array, most?: number): Promise<void> | undefined {
    if (this.#state === "fresh") this.begin();
    return this.#outbox.send(message, tail, most);
  }

  end(status: Status): void {
    if (this.#state === "ended") return;
    const fresh = this.#state === "fresh";
    this.#state = "ended";
    const trailers = trailersOf(status);
    // Nothing more is read. The rest of the request must not block the stream.
    this.#inbox.stop(undefined);
    if (this.#gone) return;
    if (!fresh) {
      this.#trailers = trailers;
      this.#outbox.end();
      return;
    }
    this.#outbox.fail(ended);
    const headers: OutgoingHttpHeaders = {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-accept-encoding": this.#accepted.encodings,
    };
    this.#stream.respond(Object.assign(headers, trailers), trailersOnly);
    this.#release();
  }

  /** Ends the call in any state, even if the client does not read. */
  abort(reason: Fault): void {
    // Those who are told of it may end the call with a status, which still has to be sent.
    const wasEnded = this.#state === "ended";
    if (!wasEnded) this.#canceller.fire(reason);
    if (wasEnded || this.backlog > 0) {
      this.#state = "ended";
      this.#inbox.stop(reason);
      this.#outbox.fail(() => reason);
      if (!this.#gone) reset(this.#stream);
    } else {
      this.end(faultStatus(reason));
    }
  }

  get #gone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  readonly #expire = (): void => {
    const fault = new Fault("deadline", "the deadline passed", { data: { grpcStatus: DEADLINE_EXCEEDED } });
    this.#inbox.stop(fault);
    this.abort(fault);
  };

  readonly #onEnd = (fault: Fault | undefined): void => {
    // Many clients half-close a call that they then reset at once. The reader must not take that for the end of the messages.
    if (fault === undefined) setImmediate(this.#finish);
    else {
      this.#inbox.finish(fault);
      this.abort(fault);
    }
  };

  readonly #finish = (): void => this.#inbox.finish(undefined);

  readonly #onWantTrailers = (): void => {
    this.#stream.sendTrailers(this.#trailers ?? { "grpc-status": String(INTERNAL) });
    this.#release();
  };

  /** The status was sent: a client that still sends is told to stop. */
  #release(): void {
    const stream = this.#stream;
    if (stream.readableEnded) return;
    setImmediate(() => {
      if (!stream.readableEnded && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  readonly #onClose = (): void => {
    this.#forget();
    if (this.#state === "ended") {
      this.#outbox.fail(ended);
    } else {
      this.#state = "ended";
      const gone = new Fault("cancelled", "the client cancelled the call or disconnected");
      this.#canceller.fire(gone);
      this.#inbox.stop(gone);
      this.#outbox.fail(() => gone);
    }
    this.#accepted.onClose(this);
  };
}

function ended(): Fault {
  return new Fault("internal", "the call has ended");
}

function trailersOf({ code, message, metadata }: Status): OutgoingHttpHeaders {
  const trailers: OutgoingHttpHeaders = { "grpc-status": String(code) };
  if (message !== undefined && message !== "") trailers["grpc-message"] = percentEncode(message);
  try {
    addMetadata(trailers, metadata);
    return trailers;
  } catch (error) {
    return { "grpc-status": String(INTERNAL), "grpc-message": percentEncode(toFault(error).message) };
  }
}
