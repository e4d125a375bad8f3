import { decodeMessage, encodeMessage } from "../../../codec/mcpv1/index.js";
import { Fault, type JsonObject, type Limits, type RpcError, reasonOf, toFault, toRpcError } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import type { RpcAnswer, RpcReceiver } from "./answers.js";

export interface ToolCallsOptions {
  readonly limits: Limits;
  /** Whether the caller is an Anywire end. */
  readonly isAnywirePeer: boolean;
  /** Whether it may know only the base service. */
  readonly base: boolean;
  /** An id that no other call of the session has. */
  id(): string;
  /** Returns who takes a call, and its params. Throws if the call is refused. */
  receiver(params: JsonObject): { readonly receiver: RpcReceiver; readonly params: JsonObject };
}

interface OpenCall {
  readonly id: string;
  readonly receiver: RpcReceiver;
}

/** Concurrent tool calls on one stream, each answered when it is done. */
export class ToolCalls {
  readonly #call: ServerCall;
  readonly #options: ToolCallsOptions;
  /** OpenCall calls, by the ids that the client gave them. */
  readonly #open = new Map<string, OpenCall>();
  #idle: (() => void) | undefined;
  /** Settles when the client has read on. */
  #room: Promise<void> | undefined;

  constructor(call: ServerCall, options: ToolCallsOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Resolves when the client sends no more calls and all are answered. If it ends earlier, the calls end too. */
  async serve(): Promise<void> {
    const { cancel, messages } = this.#call;
    const unhook = cancel.on(() => this.#leave(reasonOf(cancel)));
    try {
      for await (const batch of messages) {
        for (const bytes of batch) {
          // A client that does not read is not served further: its answers would pile up here.
          if (this.#room !== undefined) await this.#room;
          this.#take(bytes);
        }
      }
      if (this.#open.size > 0)
        await new Promise<void>((resolve) => {
          this.#idle = resolve;
        });
    } catch (error) {
      this.#leave(toFault(error));
      throw error;
    } finally {
      unhook();
    }
  }

  #take(bytes: Uint8Array): void {
    const { limits, id: newId, receiver: receiverOf } = this.#options;
    const { requestId, params: sent } = decodeMessage("StreamToolCallsRequest", bytes, limits);
    const name = String(requestId);
    try {
      if (name.length > limits.idChars)
        throw new Fault("overload", "the id is too long", { data: { limit: "idChars", max: limits.idChars } });
      if (this.#open.has(name)) throw new Fault("invalid-request", `a request with the id ${JSON.stringify(name)} is still open`);
      if (this.#open.size >= limits.inFlight)
        throw new Fault("overload", "too many calls at a time", { data: { limit: "inFlight", max: limits.inFlight } });
      const { receiver, params } = receiverOf(sent as JsonObject);
      const id = newId();
      this.#open.set(name, { id, receiver });
      receiver.take({ kind: "request", id, method: "tools/call", params }, this.#answer(name));
    } catch (error) {
      void this.#say(this.#write(name, { error: toRpcError(toFault(error), "modern") }));
    }
  }

  #answer(name: string): RpcAnswer {
    return {
      send: (message) => {
        if ("method" in message) {
          if ("id" in message) throw new Fault("unknown-method", `this call cannot bring its client a ${message.method}`);
          return undefined;
        }
        // Encoded before the call counts as answered: if that fails, the call is answered with an error instead.
        const written = this.#write(name, "result" in message ? { success: message.result } : { error: message.error });
        const sent = this.#say(written);
        this.#ended(name);
        return sent;
      },
      part: () => undefined,
    };
  }

  #ended(name: string): void {
    const open = this.#open.get(name);
    this.#open.delete(name);
    open?.receiver.forget(open.id);
    if (this.#open.size === 0) this.#idle?.();
  }

  #leave(reason: Fault): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { id, receiver } of open) receiver.forget(id, reason);
    this.#idle?.();
  }

  #write(name: string, outcome: { readonly success: JsonObject } | { readonly error: RpcError }): Uint8Array {
    const { isAnywirePeer, base } = this.#options;
    return encodeMessage("StreamToolCallsResponse", { requestId: name, ...outcome }, { twin: isAnywirePeer, base });
  }

  #say(message: Uint8Array): Promise<void> | undefined {
    const sent = this.#call.send(message);
    if (sent !== undefined) {
      const room = sent.then(
        () => {},
        () => {},
      );
      this.#room = room;
      void room.then(() => {
        if (this.#room === room) this.#room = undefined;
      });
    }
    return sent;
  }
}
