import { decodeMessage, encodeMessage, WATCH } from "../../../codec/mcpv1/index.js";
import {
  bothEras,
  defaultTimeouts,
  eraOfRequest,
  extended,
  Fault,
  isModernRequest,
  isModernVersion,
  isObject,
  type JsonObject,
  type Limits,
  layered,
  legacyVersions,
  limitsOf,
  quotaOwner,
  reasonOf,
  type Service,
  statedVersion,
  toFault,
  toRpcError,
  withTrace,
} from "../../../core/index.js";
import { KnownCallers, type Parking, randomToken, type ServeLinkOptions, SessionTable, serving } from "../../../era/index.js";
import { firstOf, type Metadata, type ServerCall } from "../../../io/index.js";
import { extras } from "../extras.js";
import { mcpStatus } from "../faults.js";
import { checkMirror } from "../mirror.js";
import { header, type Rpc, rpcs, SERVICE } from "../names.js";
import { onlyMessage } from "../only-message.js";
import { type RpcAnswer, type RpcReceiver, rpcAnswer } from "./answers.js";
import { callerOf, type RpcCaller } from "./caller.js";
import type { GrpcListenOptions } from "./options.js";
import { GrpcSession } from "./session.js";
import { SessionStream } from "./session-stream.js";
import { ToolCalls } from "./tool-calls.js";
import { traits } from "./traits.js";

/** Serves `mcp.v1.McpService`, whatever carries its calls. */
export class McpService {
  readonly #service: Service;
  readonly #options: GrpcListenOptions;
  readonly #limits: Limits;
  readonly #sessions: SessionTable<GrpcSession>;
  readonly #parking: Parking;
  /** Callers with credentials, and those behind a relay. Their calls come on streams and as separate RPCs. */
  readonly #callers = new KnownCallers();
  /** End the calls that would never end by themselves. */
  readonly #watches = new Set<(reason: Fault) => void>();
  readonly #secret = randomToken();
  #count = 0;

  constructor(service: Service, options: GrpcListenOptions, parking: Parking) {
    this.#service = layered(service, extras);
    this.#options = options;
    this.#limits = limitsOf(options.limits);
    this.#sessions = new SessionTable(options);
    this.#parking = parking;
  }

  /** Answers a call of the service; never rejects. */
  async handle(call: ServerCall): Promise<void> {
    try {
      const asked = callerOf(call, this.#options);
      const caller = asked instanceof Promise ? await asked : asked;
      const name = call.path.slice(SERVICE.length);
      if (name === "Session") return await this.#session(call, caller);
      if (name === "StreamToolCalls") return await this.#toolCalls(call, caller);
      const rpc = rpcs.get(name);
      if (rpc === undefined) throw new Fault("unknown-method", `unknown method: ${call.path}`);
      await this.#rpc(call, caller, rpc);
    } catch (error) {
      call.end(mcpStatus(toFault(error)));
    }
  }

  /** Accepts no more calls on open streams, waits up to `ms` until the accepted ones are answered, and ends the streams. */
  async drain(reason: Fault, ms: number): Promise<void> {
    for (const leave of [...this.#watches]) leave(reason);
    await Promise.all([...this.#sessions].map((session) => session.drain(reason, ms)));
    this.#sessions.close(reason);
    this.#callers.close();
  }

  async #rpc(call: ServerCall, caller: RpcCaller, rpc: Rpc): Promise<void> {
    const params = this.#params(decodeMessage(rpc.request, await onlyMessage(call), this.#limits), rpc.method, caller);
    if (rpc.method === "ping") return this.#pong(call, caller);
    if (rpc.method === "initialize") return this.#initialize(call, caller, rpc, params);
    // An answer of one message is sent together with its headers.
    if (rpc.answer !== "one") begin(call, caller);
    const receiver = this.#receiver(call, caller, params);
    const id = this.#newId();
    const progress = rpc.answer === "progress";
    const unhook = call.cancel.on(() => receiver.forget(id, call.cancel.reason));
    const answer = rpcAnswer(call, {
      rpc,
      isAnywirePeer: caller.isAnywirePeer,
      base: caller.base && !isModernRequest(params),
      anonymous: progress && tokenOf(params) === undefined,
      begin: () => begin(call, caller),
      ended: () => {
        unhook();
        this.#watches.delete(leave);
        receiver.forget(id);
      },
    });
    const leave = (reason: Fault): void => {
      receiver.forget(id, reason);
      void answer.send({ jsonrpc: "2.0", id, error: toRpcError(reason, "modern"), fault: reason });
    };
    if (rpc.method === WATCH) {
      this.#watches.add(leave);
      const unwatch = caller.credentials?.(leave);
      call.cancel.on(() => {
        this.#watches.delete(leave);
        unwatch?.();
      });
    }
    receiver.take({ kind: "request", id, method: rpc.method, params: progress ? withToken(params) : params }, answer);
  }

  /** A ping belongs to no session and no era. */
  #pong(call: ServerCall, caller: RpcCaller): void {
    begin(call, caller);
    void call.send(encodeMessage("PingResponse", {}, { twin: caller.isAnywirePeer }));
    call.end({ code: 0 });
  }

  #initialize(call: ServerCall, caller: RpcCaller, rpc: Rpc, params: JsonObject): void {
    const session = this.#begin(call, caller, true);
    begin(call, caller, session.id);
    const answer = rpcAnswer(call, {
      rpc,
      isAnywirePeer: caller.isAnywirePeer,
      base: caller.base,
      anonymous: false,
      ended: () => session.forget("initialize"),
    });
    const unhook = call.cancel.on(() => this.#sessions.end(session, reasonOf(call.cancel)));
    session.take(
      { kind: "request", id: "initialize", method: rpc.method, params },
      {
        ...answer,
        send: (message) => {
          unhook();
          const sent = answer.send(message);
          if ("result" in message) session.start();
          else if ("error" in message) this.#sessions.end(session, new Fault("unavailable", "the session did not begin"));
          return sent;
        },
      },
    );
  }

  async #session(call: ServerCall, caller: RpcCaller): Promise<void> {
    const named = firstOf(caller.metadata, header.session);
    const session = named === undefined ? this.#begin(call, caller, false) : this.#find(named, caller);
    if (session.streaming) throw new Fault("invalid-request", "the session has a stream open already");
    begin(call, caller, session.id);
    const gone = call.cancel.on(() => void (session.lasting || this.#sessions.end(session, reasonOf(call.cancel))));
    const unwatch = caller.credentials?.((fault) => {
      // A lasting session may continue with other credentials. Its stream may not.
      if (session.lasting) call.end(mcpStatus(fault));
      else void session.drain(fault, this.#options.drainMs ?? defaultTimeouts.drainMs).then(() => this.#sessions.end(session, fault));
    });
    try {
      await session.serve(call, new SessionStream(call, this.#limits, caller));
      call.end({ code: 0 });
    } finally {
      gone();
      unwatch?.();
      if (!session.lasting)
        this.#sessions.end(session, new Fault("unavailable", "the client closed the stream", { data: { reason: "closed" } }));
    }
  }

  async #toolCalls(call: ServerCall, caller: RpcCaller): Promise<void> {
    begin(call, caller);
    let { base } = caller;
    const calls = new ToolCalls(call, {
      limits: this.#limits,
      isAnywirePeer: caller.isAnywirePeer,
      get base() {
        return base;
      },
      id: () => this.#newId(),
      receiver: (sent) => {
        const params = this.#params(sent, "tools/call", caller);
        base &&= !isModernRequest(params);
        return { params, receiver: this.#receiver(call, caller, params) };
      },
    });
    const unwatch = caller.credentials?.((fault) => call.end(mcpStatus(fault)));
    try {
      await calls.serve();
      call.end({ code: 0 });
    } finally {
      unwatch?.();
    }
  }

  /** An id for an RPC of any session. No client can guess it, so none can use it for a request on a stream. */
  #newId(): string {
    return `${this.#secret}-${++this.#count}`;
  }

  /** The params of a request, with the trace of its metadata. */
  #params(params: JsonObject, method: string, { metadata }: RpcCaller): JsonObject {
    checkMirror(metadata, method, params);
    return withTrace(params, (name) => firstOf(metadata, name));
  }

  #receiver(call: ServerCall, caller: RpcCaller, params: JsonObject): RpcReceiver {
    const session = firstOf(caller.metadata, header.session);
    const modern = eraOfRequest(statedVersion(params), this.#options.eras ?? bothEras) === "modern";
    if (session !== undefined && !modern) return this.#find(session, caller);
    return this.#statelessReceiver(call, caller, modern, session);
  }

  /** Takes a request that stands alone: a modern one, or one of a legacy client that never initialised. */
  #statelessReceiver(call: ServerCall, caller: RpcCaller, modern: boolean, session: string | undefined): RpcReceiver {
    let answer: RpcAnswer | undefined;
    const version = firstOf(caller.metadata, header.version);
    const legacy = version !== undefined && !isModernVersion(version) ? version : legacyVersions[0];
    const assume = modern ? undefined : legacy;
    const served = serving(
      this.#service,
      {
        traits,
        backlog: 0,
        send: (message) => {
          try {
            return answer?.send(message as Parameters<RpcAnswer["send"]>[0]) ?? done;
          } catch (error) {
            return Promise.reject(toFault(error));
          }
        },
        part: (_call, part) => answer?.part(part),
      },
      this.#serveOptions(call, caller, assume, session),
    );
    return {
      take(message, to) {
        answer = to;
        void served.take(message);
      },
      forget: (_id, reason) => served.end(reason ?? ANSWERED),
    };
  }

  #find(id: string, { principal }: RpcCaller): GrpcSession {
    const session = this.#sessions.find(id, principal);
    if (session === undefined) throw new Fault("not-found", "no such session: call Initialize");
    return session;
  }

  #begin(call: ServerCall, caller: RpcCaller, lasting: boolean): GrpcSession {
    // A client of the base service may never send initialize.
    const assume = caller.isAnywirePeer || lasting ? undefined : (firstOf(caller.metadata, header.version) ?? legacyVersions[0]);
    const options = { ...this.#serveOptions(call, caller, assume), deadline: undefined };
    const session: GrpcSession = this.#sessions.begin(quotaOwner(options), (id) => {
      const displace = (reason: Fault): void => this.#sessions.end(session, reason);
      return new GrpcSession(this.#service, { ...options, id, lasting, displace });
    });
    return session;
  }

  /** Always of the same shape, and without spreads, because this is made for every call. */
  #serveOptions(
    call: ServerCall,
    { principal, remote, metadata }: RpcCaller,
    assume: string | undefined,
    session?: string,
  ): ServeLinkOptions {
    const { limits, onFault, eras, observe, wire } = this.#options;
    const { anonymous } = this.#options;
    return {
      limits,
      onFault,
      eras,
      observe,
      wire,
      // A modern call may name the stream of its caller. An unknown name is ignored.
      identity: (session === undefined ? undefined : this.#sessions.find(session, principal)?.identity) ?? "each",
      anonymous,
      callers: this.#callers,
      endless,
      account: call.account,
      parking: this.#parking,
      metadata,
      principal,
      remote,
      assume,
      deadline: call.deadline,
    };
  }
}

const done = Promise.resolve();
/** Made once: creating an error costs as much as half a call. */
const ANSWERED = new Fault("unavailable", "the call was answered");
const TWINS: Metadata = { [header.twins]: "1" };
const endless: ReadonlySet<string> = new Set([WATCH]);

/** Sends the headers of an answer at once, so that the client knows that a long stream is open. */
function begin(call: ServerCall, { isAnywirePeer }: RpcCaller, session?: string): void {
  if (!isAnywirePeer && session === undefined) return;
  call.begin(session === undefined ? TWINS : { ...(isAnywirePeer ? TWINS : undefined), [header.session]: session });
}

function tokenOf(params: JsonObject): unknown {
  return isObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined;
}

/** A caller of the progress RPC wants progress even without a token. */
function withToken(params: JsonObject): JsonObject {
  if (tokenOf(params) !== undefined) return params;
  return extended(params, { _meta: extended(isObject(params["_meta"]) ? params["_meta"] : undefined, { progressToken: 0 }) });
}
