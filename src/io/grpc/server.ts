import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import {
  type Account,
  accountOf,
  closingFault,
  defaultLimits,
  Fault,
  fixedLimits,
  fixedTimeouts,
  requestStatuses,
  toFault,
} from "../../core/index.js";
import { type Deferred, deferred, ignore, within } from "../../stream/index.js";
import { ACCEPTED, isEncoding } from "./coding.js";
import { defaultKeepalive, Watch } from "./keepalive.js";
import { kill } from "./kill.js";
import { peerOf } from "./peer.js";
import { IncomingCall } from "./server-call.js";
import { faultStatus, INTERNAL, RESOURCE_EXHAUSTED, UNIMPLEMENTED } from "./status.js";
import type { GrpcPeer, GrpcServer, GrpcServerOptions, ServerCall } from "./types.js";

/** Milliseconds for a client to learn that no new calls are accepted. */
const NOTICE_MS = 1000;

/** Whether a content type is gRPC with protobuf. gRPC-Web and other codecs are not. */
export function isGrpc(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/grpc(\+proto)?($|[;\s])/i.test(contentType);
}

/** Serves gRPC. The handler also gets unknown paths. If it throws or rejects, the call ends with the status of the fault. */
export function grpcServer(handle: (call: ServerCall) => void | Promise<void>, options: GrpcServerOptions = {}): GrpcServer {
  return new Server(handle, options);
}

/** One connection with calls. */
interface Connected {
  readonly session: ServerHttp2Session;
  readonly watch: Watch;
  readonly account: Account;
  /** Calls that nobody reads. */
  held: number;
  peer?: GrpcPeer;
}

class Server implements GrpcServer {
  readonly #handle: (call: ServerCall) => void | Promise<void>;
  readonly #options: GrpcServerOptions;
  readonly #connections = new Map<ServerHttp2Session, Connected>();
  readonly #calls = new Set<IncomingCall>();
  #draining: Deferred | undefined;
  #closed = false;

  constructor(handle: (call: ServerCall) => void | Promise<void>, options: GrpcServerOptions) {
    this.#handle = handle;
    this.#options = options;
  }

  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders?: readonly string[]): void {
    const { session } = stream;
    if (session === undefined || session.destroyed) {
      stream.on("error", ignore).destroy();
      return;
    }
    const refusal = refusalOf(headers);
    if (refusal !== undefined) {
      stream.on("error", ignore);
      stream.respond({ ":status": refusal }, { endStream: true });
      stream.resume();
      return;
    }
    const connected = this.#connected(session as ServerHttp2Session);
    const { messageBytes = defaultLimits.messageBytes, maxConcurrent = Number.POSITIVE_INFINITY, gzip = false } = this.#options;
    const { watch, account } = connected;
    watch.add();
    const call = new IncomingCall({
      stream,
      headers,
      rawHeaders,
      messageBytes,
      messageMs: this.#options.limits?.messageMs ?? defaultLimits.messageMs,
      account,
      gzip,
      encodings: this.#options.acceptGzip === false ? "identity" : ACCEPTED,
      peer: () => (connected.peer ??= peerOf(session)),
      onHold: (holding, held) => {
        connected.held += held ? 1 : -1;
        if (held && connected.held > fixedLimits.unreadCalls)
          holding.abort(
            new Fault("overload", "too many calls wait to be read", { data: { limit: "unreadCalls", max: fixedLimits.unreadCalls } }),
          );
      },
      onClose: (closed) => {
        watch.remove();
        this.#calls.delete(closed);
        if (this.#calls.size === 0) this.#draining?.resolve();
      },
    });
    this.#calls.add(call);
    const encoding = headers["grpc-encoding"];
    if (this.#closed) call.end(faultStatus(closingFault()));
    else if (watch.calls > maxConcurrent) call.end({ code: RESOURCE_EXHAUSTED, message: "too many calls on this connection" });
    else if (encoding !== undefined && !this.#accepts(String(encoding))) {
      call.end({ code: UNIMPLEMENTED, message: "the grpc-encoding is not one of those accepted" });
    } else if (headers["grpc-timeout"] !== undefined && call.deadline === undefined) {
      call.end({ code: INTERNAL, message: "the grpc-timeout is invalid" });
    } else this.#run(call);
  }

  async close(graceMs: number): Promise<void> {
    const notices: Promise<unknown>[] = [];
    for (const { session } of this.#connections.values()) notices.push(within(noticed(session), Math.min(NOTICE_MS, graceMs)));
    await Promise.all(notices);
    this.#closed = true;
    for (const { session } of this.#connections.values()) if (!session.destroyed) session.close();
    if (await this.#drained(graceMs)) return;
    for (const call of this.#calls) call.abort(closingFault());
    if (await this.#drained(fixedTimeouts.lastAnswersMs)) return;
    for (const { session } of this.#connections.values()) kill(session);
  }

  #accepts(encoding: string): boolean {
    return encoding === "identity" || (this.#options.acceptGzip !== false && isEncoding(encoding));
  }

  #drained(ms: number): Promise<boolean> {
    if (this.#calls.size === 0) return Promise.resolve(true);
    this.#draining = deferred();
    return within(this.#draining.promise, ms);
  }

  #connected(session: ServerHttp2Session): Connected {
    const known = this.#connections.get(session);
    if (known !== undefined) return known;
    const watch = new Watch(session, this.#options.keepalive ?? defaultKeepalive, () => kill(session));
    const connected: Connected = {
      session,
      watch,
      account: accountOf(session, this.#options.limits, session.socket?.remoteAddress),
      held: 0,
    };
    this.#connections.set(session, connected);
    session.once("close", () => {
      watch.stop();
      this.#connections.delete(session);
    });
    return connected;
  }

  #run(call: IncomingCall): void {
    try {
      const running = this.#handle(call);
      if (running !== undefined) running.catch((error: unknown) => this.#failed(call, error));
    } catch (error) {
      this.#failed(call, error);
    }
  }

  #failed(call: IncomingCall, error: unknown): void {
    const fault = toFault(error);
    if (!(error instanceof Fault)) this.#options.onFault?.(fault);
    call.end(faultStatus(fault));
  }
}

function refusalOf(headers: IncomingHttpHeaders): number | undefined {
  if (!isGrpc(headers["content-type"])) return requestStatuses["a body of another type, or packed"];
  if (headers[":method"] !== "POST") return requestStatuses["another method"];
  return headers[":path"]?.startsWith("/") === true ? undefined : requestStatuses["no such path"];
}

/** Tells the client to open no more calls. Resolves when it must know: calls that crossed the notice are still accepted. */
function noticed(session: ServerHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) {
      resolve();
      return;
    }
    session.goaway(0, 2 ** 31 - 1);
    if (!session.ping(() => resolve())) resolve();
  });
}
