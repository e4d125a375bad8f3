import type { AnswerPart, Id, IncomingRequest, OutgoingMessage } from "../../../codec/index.js";
import {
  COMPLETED,
  encodeChunkMessageHead,
  encodeMessage,
  encodeNote,
  encodePartMessage,
  encodeRest,
  isForBase,
  partState,
  WATCHED,
} from "../../../codec/mcpv1/index.js";
import { Fault, type JsonObject } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import { endWithError } from "../faults.js";
import type { Rpc } from "../names.js";

/** Takes the answer to one RPC. */
export interface RpcAnswer {
  /** A result or an error ends the call. Notifications come before it. */
  send(message: OutgoingMessage): Promise<void> | undefined;
  part(part: AnswerPart): Promise<void> | undefined;
}

/** Takes a request that came as an RPC: a session, or a link of its own. */
export interface RpcReceiver {
  take(message: IncomingRequest, answer: RpcAnswer): void;
  /** The RPC has ended. With a reason if that was before its answer. */
  forget(id: Id, reason?: Fault): void;
}

export interface RpcAnswerOptions {
  readonly rpc: Rpc;
  /** Whether the caller is an Anywire end: it accepts JSON for Struct, and notifications within a stream. */
  readonly isAnywirePeer: boolean;
  /** Whether it may know only the base service. */
  readonly base: boolean;
  /** Whether the caller gave no progress token. */
  readonly anonymous: boolean;
  /** Sends the headers of an answer with one message. */
  begin?(): void;
  /** Called when the call has been answered. */
  ended(): void;
}

/** Bytes of notifications that may wait for a client to read. */
const NOTES = 64 * 1024;

/** Turns the messages of the era edge into those of an RPC. */
export function rpcAnswer(call: ServerCall, { rpc, isAnywirePeer, base, anonymous, begin, ended }: RpcAnswerOptions): RpcAnswer {
  const options = { twin: isAnywirePeer, base };
  // Connect's unary calls have one message, whoever makes them.
  const several = isAnywirePeer && (rpc.answer !== "one" || !("admitted" in call));
  // A caller that does not know where contents begin needs the content's details with every chunk.
  const state = isAnywirePeer ? undefined : partState();

  const finish = (message?: Uint8Array): undefined => {
    ended();
    if (message !== undefined) void call.send(message);
    call.end({ code: 0 });
  };
  const result = (value: JsonObject): undefined => {
    switch (rpc.answer) {
      case "one":
        begin?.();
        return finish(encodeMessage(rpc.response, value, options));
      case "progress":
        return finish(encodeMessage(rpc.response, { result: value }, options));
      case "parts":
        return finish(encodeRest(rpc.method, value, options, state));
      case "notes":
        return finish();
    }
  };
  const notification = (method: string, params: JsonObject): Promise<void> | undefined => {
    if (rpc.answer === "notes" && (method === WATCHED || method === COMPLETED))
      return call.send(encodeMessage(rpc.response, params, options), undefined, NOTES);
    if (rpc.answer === "progress" && method === "notifications/progress") {
      const { progressToken, ...progress } = params;
      return call.send(encodeMessage(rpc.response, { progress: anonymous ? progress : params }, options), undefined, NOTES);
    }
    if (!several) return undefined;
    begin?.();
    return call.send(encodeNote(method, params), undefined, NOTES);
  };

  return {
    send(message) {
      if ("method" in message) {
        if ("id" in message) throw new Fault("unknown-method", `this call cannot bring its client a ${message.method}`);
        return notification(message.method, message.params ?? {});
      }
      if ("result" in message) return result(message.result);
      if (rpc.answer === "progress") return finish(encodeMessage(rpc.response, { error: message.error }, options));
      ended();
      if (several) begin?.();
      endWithError(call, message.error, { fault: message.fault, isAnywirePeer: several });
      return undefined;
    },
    part(part) {
      if (part.kind === "chunk" && typeof part.data !== "string")
        return call.send(encodeChunkMessageHead(part.data.byteLength, state), part.data);
      return !base || isForBase(rpc.method, part) ? call.send(encodePartMessage(rpc.method, part, options, state)) : undefined;
    },
  };
}
