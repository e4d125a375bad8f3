import { type AnswerPart, hasRoom, type Id, type Incoming, namedCall, type OutgoingMessage } from "../../../codec/index.js";
import {
  COMPLETED,
  decodeToServer,
  type EncodeOptions,
  encodeChunkHead,
  encodePart,
  encodeToClient,
  isForBase,
  type PartState,
  partState,
  WATCHED,
} from "../../../codec/mcpv1/index.js";
import { Fault, isModernRequest, isObject, type JsonObject, type Limits } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import { Registry } from "../../../stream/index.js";

import type { RpcCaller } from "./caller.js";

/** A request that is being answered: a result does not name its method. */
interface OpenRequest {
  readonly method: string;
  /** Whether it is answered in chunks. */
  readonly chunked: boolean;
  /** Set for a client that needs the content's details with every chunk. */
  readonly state: PartState | undefined;
  /** More than one while a second request with the same id is refused. */
  uses: number;
}

/** The serving side of a `Session` stream: frames in, frames out. */
export class SessionStream {
  readonly #call: ServerCall;
  readonly #limits: Limits;
  /** Whether the client is an Anywire end. */
  readonly #isAnywirePeer: boolean;
  #options: EncodeOptions;
  /** For an answer that came in chunks. Made once: spreading the options for each answer took a twentieth of a call. */
  #streamed: EncodeOptions & { readonly streamed: true };
  readonly #open = new Registry<OpenRequest>();
  /** Whether a legacy session has begun and its client has not said that it is ready. */
  #begun = false;

  constructor(call: ServerCall, limits: Limits, { isAnywirePeer, base }: Pick<RpcCaller, "isAnywirePeer" | "base">) {
    this.#call = call;
    this.#limits = limits;
    this.#isAnywirePeer = isAnywirePeer;
    this.#options = { twin: isAnywirePeer, base };
    this.#streamed = { ...this.#options, streamed: true };
  }

  get backlog(): number {
    return this.#call.backlog;
  }

  /** The requests that are not answered yet. */
  get open(): readonly Id[] {
    return this.#open.ids();
  }

  /** Reads a frame. Throws if it cannot be read at all. */
  read(frame: Uint8Array): Incoming {
    return decodeToServer(frame, this.#limits);
  }

  /** Notes a message. Returns a message that has to be taken before it, if any. */
  before(message: Incoming): Incoming | undefined {
    if (message.kind === "notification" && message.method === "notifications/initialized") this.#begun = false;
    if (message.kind !== "request") return undefined;
    const { id, method, params } = message;
    if (this.#options.base === true && isModernRequest(params)) {
      this.#options = { twin: this.#isAnywirePeer, base: false };
      this.#streamed = { ...this.#options, streamed: true };
    }
    const known = this.#open.get(id);
    if (known !== undefined) known.uses++;
    else {
      const chunked = method === "resources/read" && isChunked(params);
      this.#open.set(id, { method, chunked, state: chunked && !this.#isAnywirePeer ? partState() : undefined, uses: 1 });
    }
    if (method === "initialize") this.#begun = true;
    else if (this.#begun && method !== "ping") {
      // A client of the base service sends no notifications. Its first request shows that it is ready.
      this.#begun = false;
      return { kind: "notification", method: "notifications/initialized", params: {} };
    }
    return undefined;
  }

  /** A cancelled call gets no answer, but its stream still ends. Wait for the returned promise. */
  after(message: Incoming): Promise<void> | undefined {
    if (message.kind !== "notification" || message.method !== "notifications/cancelled") return undefined;
    const id = namedCall(message.params);
    const open = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || open === undefined) return undefined;
    this.#open.delete(id);
    return this.#call.send(encodeToClient({ jsonrpc: "2.0", id, result: {} }, open.method, this.#streamed));
  }

  send(message: OutgoingMessage, call: Id | undefined): Promise<void> {
    return this.#send(message, call) ?? hasRoom;
  }

  part(id: Id, part: AnswerPart): Promise<void> | undefined {
    const open = this.#open.get(id);
    if (open === undefined) throw new Fault("cancelled", "the call was cancelled");
    if (part.kind === "chunk" && typeof part.data !== "string")
      return this.#call.send(encodeChunkHead(id, part.data.byteLength, open.state), part.data);
    if (this.#options.base === true && !isForBase(open.method, part)) return undefined;
    return this.#call.send(encodePart(id, open.method, part, this.#options, open.state));
  }

  #send(message: OutgoingMessage, call: Id | undefined): Promise<void> | undefined {
    if ("method" in message) {
      const ours = message.method === WATCHED || message.method === COMPLETED;
      const named = ours ? { ...message, params: { ...message.params, requestId: call } } : message;
      const method = call === undefined ? undefined : this.#open.get(call)?.method;
      return this.#call.send(
        encodeToClient(named, method, call === undefined ? this.#options : { twin: this.#isAnywirePeer, base: this.#options.base, call }),
      );
    }
    const { id } = message;
    const open = id === null ? undefined : this.#open.get(id);
    const plain = "error" in message ? { jsonrpc: message.jsonrpc, id, error: message.error } : message;
    // Encoded before the call counts as answered: if that fails, the call is answered with an error instead.
    const written = encodeToClient(plain, open?.method, open?.chunked === true ? this.#streamed : this.#options);
    if (id !== null && open !== undefined && --open.uses === 0) this.#open.delete(id);
    if (id !== null && open?.state !== undefined && "result" in message)
      void this.#call.send(encodePart(id, open.method, { kind: "rest", value: {} }, this.#options, open.state));
    return this.#call.send(written);
  }
}

function isChunked(params: JsonObject): boolean {
  return isObject(params["_meta"]) && params["_meta"]["dev.anywire/chunked"] !== undefined;
}
