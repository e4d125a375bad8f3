import { type Id, type LinkMessage, namedCall, type OutgoingMessage, type OutgoingRequest } from "../../../codec/index.js";
import { decodeMessage, decodeNote, decodePartMessage, encodeMessage, type PartState, partState } from "../../../codec/mcpv1/index.js";
import {
  clientInfo,
  Fault,
  isModernRequest,
  isObject,
  isRpcError,
  type JsonObject,
  type Limits,
  limitsOf,
  listMembers,
  modernVersions,
  newestVersions,
  type RpcError,
  rpcCodes,
  statedVersion,
  toFault,
  toRpcError,
} from "../../../core/index.js";
import {
  discovered,
  hasRoom,
  type Link,
  type LinkTraits,
  type RenewingLink,
  renewing,
  type SendOptions,
  sharedStream,
} from "../../../era/index.js";
import type { Channel, ClientCall, Metadata } from "../../../io/index.js";
import { pipe, Registry } from "../../../stream/index.js";
import { statusError } from "../faults.js";
import { withMirror } from "../mirror.js";
import { header, type Rpc, rpcs, SERVICE } from "../names.js";
import { fitting } from "./fitting.js";
import type { GrpcDialOptions } from "./options.js";
import { byMethod, nameFor } from "./rpc-names.js";
import { mcpSessionLink, type SessionLink } from "./session-link.js";
import { Watches } from "./watches.js";

/** Batches of messages that may wait for the reader. */
const BATCHES = 64;

export interface RpcLinkOptions extends Omit<GrpcDialOptions, "calls"> {
  readonly metadata: Metadata;
  /** For an Anywire server. Methods without an RPC of their own go on a `Session` stream, where the server supports all of them. */
  readonly isAnywirePeer?: {
    /** `session`: other calls go on the stream too, except reads, which make the best use of a connection with a stream of their own. */
    readonly calls: "session" | "rpc";
    /** Whether a stream that breaks is opened anew; `never`: the channel has none both ways, and what has no RPC cannot be asked for. */
    readonly lasting: boolean | "never";
  };
}

interface OpenCall {
  /** Undefined until the session of the call is known. */
  call: ClientCall | undefined;
  held: boolean;
  wake: (() => void) | undefined;
  /** The whole error, if it was sent before the status. */
  error: RpcError | undefined;
}

/** Where the messages of a call are put. */
interface Taking {
  readonly state: PartState;
  readonly messages: LinkMessage[];
  readonly open: OpenCall;
}

/** Each call as an RPC of its own: every server of `mcp.v1` understands it, and a mesh can balance it. */
export function rpcLink(channel: Channel, options: RpcLinkOptions): Link {
  return new RpcLink(channel, options);
}

class RpcLink implements Link {
  readonly traits: LinkTraits = { ownStream: (method) => this.#ownStream(method), inParts: () => true, bytes: false };
  readonly part = sharedStream.part;
  readonly #channel: Channel;
  readonly #limits: Limits;
  readonly #isAnywirePeer: boolean;
  readonly #session: RenewingLink<SessionLink> | undefined;
  readonly #inbox = pipe<readonly LinkMessage[]>({ items: BATCHES });
  readonly #calls: "session" | "rpc";
  readonly #open = new Registry<OpenCall>();
  readonly #watches: Watches;
  /** The metadata of calls, which names the legacy session. */
  #metadata: Metadata;
  #closed: Fault | undefined;

  constructor(channel: Channel, options: RpcLinkOptions) {
    this.#channel = channel;
    this.#limits = limitsOf(options.limits);
    const { metadata, limits, isAnywirePeer } = options;
    this.#calls = isAnywirePeer?.calls ?? "rpc";
    const methodOf = (call: Id): string | undefined => this.#session?.methodOf(call);
    const stream = (): SessionLink => mcpSessionLink(channel, { metadata, limits, methodOf });
    const connect = isAnywirePeer?.lasting === true ? async () => stream() : undefined;
    this.#isAnywirePeer = isAnywirePeer !== undefined;
    this.#session =
      isAnywirePeer === undefined || isAnywirePeer.lasting === "never"
        ? undefined
        : renewing(stream(), { ...options, connect, proven: true });
    if (this.#session !== undefined) void this.#listen(this.#session);
    this.#metadata = isAnywirePeer === undefined ? metadata : { ...metadata, [header.twins]: "1" };
    this.#watches = new Watches(
      (patterns) => this.#call("WatchResources", { uriPatterns: patterns }),
      async (message) => void (await this.#deliver([message])),
    );
  }

  get incoming(): AsyncIterable<readonly LinkMessage[]> {
    return this.#inbox;
  }

  get backlog(): number {
    return this.#session?.backlog ?? 0;
  }

  send(message: OutgoingMessage, options: SendOptions = {}): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (!("method" in message)) return this.#session?.send(message) ?? hasRoom;
    if ("id" in message) return this.#request(message, options);
    if (message.method === "notifications/cancelled" && this.#leave(namedCall(message.params))) return hasRoom;
    return this.#session?.send(message) ?? hasRoom;
  }

  pace(call: Id, held: boolean): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    open.held = held;
    if (!held) open.wake?.();
  }

  #ownStream(method: string): boolean {
    return this.#session === undefined || (byMethod.has(method) && !this.#onStream(method));
  }

  async close(reason?: Fault): Promise<void> {
    this.#closed ??= reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
    for (const id of this.#open.ids()) this.#leave(id);
    this.#watches.close();
    await this.#session?.close(reason);
    this.#inbox.close();
    await this.#channel.close();
  }

  /** Reads the messages of the stream until it ends. */
  async #listen(session: Link): Promise<void> {
    try {
      for await (const messages of session.incoming) if (!this.#inbox.offer(messages)) await this.#inbox.write(messages);
    } catch (error) {
      this.#closed ??= toFault(error);
      this.#inbox.fail(this.#closed);
    }
  }

  #request(message: OutgoingRequest, options: SendOptions): Promise<void> {
    const { id, method, params = {} } = message;
    const name = this.#session !== undefined && this.#onStream(method) ? undefined : nameFor(message);
    if (name !== undefined) {
      void this.#run(id, name, params, options);
      return hasRoom;
    }
    if (this.#session !== undefined) return this.#session.send(message);
    if (method === "server/discover" && this.#isAnywirePeer) {
      void this.#discover(id, options);
      return hasRoom;
    }
    const watched = this.#watches.request(method, params);
    if (watched === undefined) {
      void this.#deliver([{ kind: "error", id, error: unknown(method) }]);
      return hasRoom;
    }
    void watched.then(
      () => this.#deliver([{ kind: "result", id, value: {} }]),
      (error) => this.#deliver([{ kind: "error", id, error: toRpcError(toFault(error), "legacy") }]),
    );
    return hasRoom;
  }

  /**
   * Whether a method goes on the stream of an Anywire server although it has an RPC. The session begins there, where the server can ask.
   * And the server makes no more of a list than its reader has asked for, while the window of an RPC has room for thousands of items.
   */
  #onStream(method: string): boolean {
    if (this.#calls === "session") return method !== "resources/read";
    return method === "initialize" || method === "ping" || listMembers.has(method);
  }

  /** No RPC discovers. What an Anywire server says to a legacy client is true for a modern one, too; the session that begins is of no use. */
  async #discover(id: Id, { deadline }: SendOptions): Promise<void> {
    const open: OpenCall = { call: undefined, held: false, wake: undefined, error: undefined };
    try {
      const params = { protocolVersion: newestVersions.legacy, capabilities: {}, clientInfo: { ...clientInfo } };
      open.call = this.#call("Initialize", params, { deadline });
      const said = await this.#answer(id, rpcOf("Initialize"), open.call, open);
      const value = { ...discovered(said), supportedVersions: [...modernVersions] };
      await this.#deliver([{ kind: "result", id, value }]);
    } catch (error) {
      await this.#failed(id, toFault(error), open);
    }
  }

  async #run(id: Id, name: string, params: JsonObject, { deadline, metadata }: SendOptions): Promise<void> {
    const rpc = rpcOf(name);
    const open: OpenCall = { call: undefined, held: false, wake: undefined, error: undefined };
    this.#open.set(id, open);
    try {
      const named = isModernRequest(params) ? this.#beside() : this.#session === undefined ? undefined : await this.#named(this.#session);
      // The call may have been left meanwhile.
      if (this.#open.get(id) !== open) return;
      const call = this.#call(name, params, { deadline, metadata: metadata === undefined ? named : { ...metadata, ...named } });
      open.call = call;
      const result = await this.#answer(id, rpc, call, open);
      const begins = rpc.method === "initialize";
      if (begins) await this.#remember(call);
      await this.#deliver([{ kind: "result", id, value: begins ? completing(result) : result }]);
    } catch (error) {
      // A caller that left wants no answer.
      if (this.#closed === undefined) await this.#failed(id, toFault(error), open);
    } finally {
      this.#open.delete(id);
    }
  }

  #call(name: string, params: JsonObject, { deadline, metadata: more }: Pick<SendOptions, "deadline" | "metadata"> = {}): ClientCall {
    const rpc = rpcOf(name);
    const version = isModernRequest(params) ? String(statedVersion(params)) : undefined;
    const metadata = withMirror(more === undefined ? this.#metadata : { ...this.#metadata, ...more }, rpc.method, params, version);
    const bytes = fitting(encodeMessage(rpc.request, params, { twin: this.#isAnywirePeer, base: !this.#isAnywirePeer }), this.#limits);
    // A read fills a long line only with much under way.
    const call = this.#channel.call(SERVICE + name, { metadata, deadline, narrow: rpc.method !== "resources/read" });
    void call.send(bytes);
    call.done();
    return call;
  }

  /** Reads an answer to its end. Returns its result. */
  async #answer(id: Id, rpc: Rpc, call: ClientCall, open: OpenCall): Promise<JsonObject> {
    let result: JsonObject | undefined;
    const state = partState();
    for await (const batch of call.messages) {
      const messages: LinkMessage[] = [];
      for (const bytes of batch) result = this.#take(id, rpc, bytes, { state, messages, open }) ?? result;
      if (messages.length > 0) await this.#deliver(messages);
      while (open.held)
        await new Promise<void>((resolve) => {
          open.wake = resolve;
        });
    }
    if (result === undefined && rpc.answer !== "parts") throw new Fault("unavailable", "the server ended the call without a result");
    return result ?? {};
  }

  #take(id: Id, rpc: Rpc, bytes: Uint8Array, { state, messages, open }: Taking): JsonObject | undefined {
    const said = this.#isAnywirePeer ? decodeNote(bytes, this.#limits) : undefined;
    if (said !== undefined && "error" in said) {
      open.error = said.error;
      return undefined;
    }
    if (said !== undefined) {
      messages.push({ kind: "notification", method: said.method, params: said.params, call: id });
      return undefined;
    }
    if (rpc.answer === "parts") {
      let rest: JsonObject | undefined;
      for (const part of decodePartMessage(rpc.method, bytes, state, this.#limits)) {
        if (part.kind === "rest") rest = part.value;
        else messages.push({ kind: "part", id, part });
      }
      return rest;
    }
    const message = decodeMessage(rpc.response, bytes, this.#limits);
    if (rpc.answer === "one") return message;
    const { progress, result, error } = message;
    if (isObject(progress))
      messages.push({ kind: "notification", method: "notifications/progress", params: { progressToken: id, ...progress }, call: id });
    if (isRpcError(error)) throw new PeerError(error);
    return isObject(result) ? result : undefined;
  }

  async #failed(id: Id, fault: Fault, { call, error }: OpenCall): Promise<void> {
    const peer = fault.cause instanceof PeerError ? fault.cause.error : undefined;
    if (peer !== undefined) return void (await this.#deliver([{ kind: "error", id, error: peer }]));
    const said = isObject(fault.data) && typeof fault.data["grpcStatus"] === "number";
    const told = said && call !== undefined ? statusError(await call.status, error) : fault;
    await this.#deliver([{ kind: "bad", answers: id, failed: true, fault: told }]);
  }

  #leave(id: Id | undefined): boolean {
    const open = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || open === undefined) return false;
    this.#open.delete(id);
    open.held = false;
    open.call?.cancel();
    open.wake?.();
    return true;
  }

  /** Keeps the session id from the server's headers. */
  async #remember(call: ClientCall): Promise<void> {
    const id = (await call.headers)[header.session];
    if (typeof id === "string") this.#metadata = { ...this.#metadata, [header.session]: id };
  }

  /** The metadata that says that a modern call comes from the same caller as the stream. */
  #beside(): Metadata | undefined {
    const stream = this.#session?.now?.stream;
    return stream === undefined ? undefined : { [header.session]: stream };
  }

  /** Looked up for every call: when the stream was opened again, the session is another. */
  async #named(session: RenewingLink<SessionLink>): Promise<Metadata | undefined> {
    const id = await (await session.current()).session();
    return id === undefined ? undefined : { [header.session]: id };
  }

  #deliver(messages: readonly LinkMessage[]): Promise<unknown> | undefined {
    return this.#inbox.offer(messages) ? undefined : this.#inbox.write(messages);
  }
}

function rpcOf(name: string): Rpc {
  return rpcs.get(name) as Rpc;
}

/** A peer's error as it came. */
class PeerError extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** A server of the base service has `Complete`, but cannot declare it. */
function completing(result: JsonObject): JsonObject {
  const capabilities = isObject(result["capabilities"]) ? result["capabilities"] : {};
  return { ...result, capabilities: { completions: {}, ...capabilities } };
}

function unknown(method: string): RpcError {
  return { code: rpcCodes.unknownMethod, message: `the server's gRPC service has no ${method}` };
}
