import type { IncomingHttpHeaders } from "node:http2";
import { Fault, toFault } from "../../core/index.js";
import { type Deferred, deferred, ignore } from "../../stream/index.js";
import { AHEAD, NARROW } from "../http2/bounds.js";
import { type Http2ClientSession, type Http2ClientStream, NO_ERROR, REFUSED_STREAM, type StreamEvents } from "../http2/index.js";
import { isEncoding } from "./coding.js";
import { runAt } from "./expiry.js";
import { Inbox } from "./inbox.js";
import { receivedMetadata } from "./metadata.js";
import { Outbox } from "./outbox.js";
import { foreignStatus, readStatus } from "./read-status.js";
import { resetToGrpc } from "./reset.js";
import { DEADLINE_EXCEEDED, faultStatus, INTERNAL, OK, statusFault, UNAVAILABLE, UNKNOWN } from "./status.js";
import { formatTimeout } from "./timeout.js";
import type { ClientCall, Metadata, ReceivedMessages, Status } from "./types.js";

export interface GrpcClientCallOptions {
  /** Names and values alternate: all headers but those of the connection and the timeout. */
  readonly headers: readonly string[];
  readonly deadline: number | undefined;
  readonly messageBytes: number;
  readonly gzip: boolean;
  /** As in GrpcCallOptions. */
  readonly narrow: boolean;
  /** The call is over. It may not have had a stream. */
  readonly onOver: (call: GrpcClientCall) => void;
  /** The server refused the call without processing it, so another may be tried. */
  readonly onRefused: (call: GrpcClientCall) => void;
}

/** How often a call that no server has processed is tried again. */
const RETRIES = 2;
const UNSAID = { code: UNKNOWN, message: "the server ended the call without a status" } as const satisfies Status;

/** A client's call. It accepts messages before it has a stream. */
export class GrpcClientCall implements ClientCall, StreamEvents {
  readonly #options: GrpcClientCallOptions;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #forget: () => void;
  #stream: Http2ClientStream | undefined;
  #onGone: () => void = ignore;
  /** The response's headers, once they have come. */
  #answer: { readonly headers: IncomingHttpHeaders; readonly raw: readonly string[] | undefined } | undefined;
  /** The final status from the server. */
  #said: Status | undefined;
  #over: { readonly status: Status; readonly fault: Fault | undefined } | undefined;
  #tries = 0;
  /** Made on demand: few callers want both. */
  #headers: Deferred<Metadata> | undefined;
  #status: Deferred<Status> | undefined;

  constructor(options: GrpcClientCallOptions) {
    const { messageBytes, deadline, gzip, narrow } = options;
    this.#options = options;
    this.#inbox = new Inbox({ messageBytes, narrow, ahead: narrow ? NARROW : AHEAD, onEnd: this.#onEnd, onLeave: this.#onLeave });
    this.#outbox = new Outbox({ replay: true });
    if (gzip) this.#outbox.encoding = "gzip";
    this.#forget = deadline === undefined ? ignore : runAt(deadline, this.#expire);
  }

  get headers(): Promise<Metadata> {
    if (this.#headers === undefined) {
      this.#headers = deferred();
      this.#tell();
    }
    return this.#headers.promise;
  }

  get status(): Promise<Status> {
    if (this.#status === undefined) {
      this.#status = deferred();
      this.#tell();
    }
    return this.#status.promise;
  }

  get messages(): ReceivedMessages {
    return this.#inbox;
  }

  get backlog(): number {
    return this.#outbox.backlog;
  }

  send(message: Uint8Array, tail?: Uint8Array): Promise<void> | undefined {
    return this.#outbox.send(message, tail);
  }

  done(): void {
    this.#outbox.end();
  }

  cancel(reason?: Fault): void {
    if (this.#over === undefined) this.fail(reason ?? new Fault("cancelled", "the call was cancelled"));
  }

  /** Ends the call with a fault of this side. */
  fail(fault: Fault): void {
    if (this.#over !== undefined) return;
    this.#inbox.stop(fault);
    this.#conclude(faultStatus(fault), fault);
  }

  /** Opens the stream. `onClose` is called once when the stream has closed. */
  open(session: Http2ClientSession, pseudo: { scheme: string; authority: string }, onClose: () => void): void {
    const { headers, deadline } = this.#options;
    const all = [":method", "POST", ":scheme", pseudo.scheme, ":authority", pseudo.authority, ...headers];
    if (deadline !== undefined) all.push("grpc-timeout", formatTimeout(deadline - Date.now()));
    let stream: Http2ClientStream;
    try {
      stream = session.request(all, this, NARROW);
    } catch (error) {
      onClose();
      if (!this.#again(false)) this.#lose(toFault(error));
      return;
    }
    this.#stream = stream;
    this.#onGone = onClose;
    this.#inbox.open(stream);
    this.#outbox.open(stream);
  }

  onResponse(headers: IncomingHttpHeaders, raw: readonly string[]): void {
    if (this.#over !== undefined) return;
    this.#outbox.forget();
    this.#said = readStatus(headers, raw);
    if (this.#said !== undefined) return;
    if (Number(headers[":status"]) !== 200 || !/^application\/grpc($|[+;\s])/i.test(headers["content-type"] ?? "")) {
      this.#conclude(foreignStatus(headers));
      return;
    }
    const encoding = headers["grpc-encoding"];
    if (typeof encoding === "string" && isEncoding(encoding)) this.#inbox.encoding = encoding;
    else if (encoding !== undefined) {
      this.#conclude({ code: INTERNAL, message: `the server compresses with ${String(encoding)}, which was not offered` });
      return;
    }
    this.#answer = { headers, raw };
    this.#tell();
  }

  onData(bytes: Uint8Array): void {
    this.#inbox.take(bytes, true);
  }

  onTrailers(headers: IncomingHttpHeaders, raw: readonly string[]): void {
    this.#said = readStatus(headers, raw) ?? { code: UNKNOWN, message: "the server's trailers have no status" };
    // Everything has arrived, so reading it before the reader asks takes no more memory, and shows how the call ended.
    this.#inbox.drain();
  }

  onEnd(): void {
    this.#inbox.ended();
  }

  readonly #onEnd = (fault: Fault | undefined): void => {
    if (fault !== undefined) this.#conclude(faultStatus(fault), fault);
    else if (this.#said !== undefined) this.#conclude(this.#said);
    else this.#cut();
  };

  readonly #onLeave = (): void => {
    this.cancel();
  };

  readonly #expire = (): void => {
    this.fail(new Fault("deadline", "the deadline passed", { data: { grpcStatus: DEADLINE_EXCEEDED } }));
  };

  onClose(code: number, error: Error | undefined, passed: boolean): void {
    this.#onGone();
    if (this.#over !== undefined) return;
    if (this.#said !== undefined) this.#conclude(this.#said);
    else if (code === REFUSED_STREAM && this.#answer === undefined && this.#again(passed)) return;
    else if (error !== undefined && (code === NO_ERROR || code === REFUSED_STREAM)) this.#lose(error);
    else if (error !== undefined) this.#conclude({ code: INTERNAL, message: error.message });
    else if (code === NO_ERROR) this.#cut();
    else if (code === REFUSED_STREAM) this.#conclude({ code: UNAVAILABLE, message: "no server took the call" });
    else this.#conclude({ code: resetToGrpc(code), message: `the server reset the call with HTTP/2 code ${code}` });
  }

  /** No server ends a call like this, but a proxy does whose timeout has passed or whose server has gone. */
  #cut(): void {
    this.#conclude(UNSAID, new Fault("unavailable", UNSAID.message, { data: { reason: "cut-off" } }));
  }

  /** Ends the call with a lost connection. The reader still gets what came before. */
  #lose(cause: Error | undefined): void {
    const fault = new Fault("unavailable", "the connection to the server was lost", { data: { reason: "connection-lost" }, cause });
    this.#conclude(faultStatus(fault), fault);
  }

  /**
   * Decides whether to try another server after none has processed the call. If a proxy takes only a few calls on each connection, and
   * others came first, this does not count as a try: those calls are done, so its turn will come.
   */
  #again(passed: boolean): boolean {
    if ((!passed && this.#tries >= RETRIES) || !this.#outbox.rewind()) return false;
    if (!passed) this.#tries++;
    this.#stream = undefined;
    this.#options.onRefused(this);
    return true;
  }

  #conclude(status: Status, reason?: Fault): void {
    if (this.#over !== undefined) return;
    this.#forget();
    const fault = reason ?? (status.code === OK ? undefined : statusFault(status));
    this.#over = { status, fault };
    this.#inbox.finish(fault);
    this.#outbox.fail(() => fault ?? new Fault("cancelled", "the server has ended the call"));
    this.#close(reason !== undefined || this.#said === undefined);
    this.#tell();
    this.#options.onOver(this);
  }

  /** Settles the promises that were asked for, as far as the outcome is known. */
  #tell(): void {
    const answer = this.#answer;
    const over = this.#over;
    if (answer !== undefined) this.#headers?.resolve(receivedMetadata(answer.headers, answer.raw));
    else if (over?.fault !== undefined) this.#headers?.reject(over.fault);
    else if (over !== undefined) this.#headers?.resolve({});
    if (over !== undefined) this.#status?.resolve(over.status);
  }

  /** A server counts resets against its client, so a call that the server has ended is half-closed where that is enough. */
  #close(reset: boolean): void {
    const stream = this.#stream;
    if (reset || (stream?.writableLength ?? 0) > 0) stream?.destroy();
    else stream?.end();
  }
}
