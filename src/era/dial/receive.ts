import { type BadPart, type IncomingRequest, type LinkMessage, readPart } from "../../codec/index.js";
import { fromRpcError, rpcCodes, toFault, toRpcError } from "../../core/index.js";
import { deliver } from "./deliver.js";
import type { Peer } from "./peer.js";

/** Delivers a message of the peer to its call or question. A bad message does not end the link. */
export function receive(peer: Peer, message: LinkMessage): void {
  try {
    take(peer, message);
  } catch (error) {
    peer.fault(toFault(error));
  }
}

function take(peer: Peer, message: LinkMessage): void {
  switch (message.kind) {
    case "part":
      // A part that comes after its call was left is late, not wrong.
      return peer.pending.get(message.id)?.push(message.part);
    case "result":
    case "error": {
      const call = message.id === undefined ? undefined : peer.settle(message.id);
      if (call === undefined) return peer.late(message);
      if (message.kind === "result") {
        const value = peer.rules?.result?.(call, message.value) ?? message.value;
        call.push(message.size === undefined ? { kind: "result", value } : { kind: "result", value, weight: message.size });
      } else {
        const instead = peer.rules?.resultOf?.(call, message.error);
        if (instead === undefined) call.fail(fromRpcError(message.error));
        else call.push({ kind: "result", value: instead });
      }
      return;
    }
    case "notification": {
      const part = readPart(message);
      if (part === undefined) return deliver(peer, message);
      return part.kind === "part" ? take(peer, part) : failOnGap(peer, part);
    }
    case "request":
      return peer.rules === undefined || !peer.ready ? tooEarly(peer, message) : peer.rules.request(message);
    case "batch":
      for (const each of message.messages) receive(peer, each);
      return;
    case "bad":
      if (message.failed !== true) peer.fault(message.fault);
      // A bad answer has to end its call, and a bad request has to be answered: otherwise someone would wait for ever.
      if (message.answers !== undefined && peer.pending.has(message.answers)) peer.settle(message.answers)?.fail(message.fault);
      else if (message.id !== undefined) peer.answers.send({ jsonrpc: "2.0", id: message.id, error: toRpcError(message.fault, "legacy") });
  }
}

/** Ends the call whose answer has a gap. */
function failOnGap(peer: Peer, { id, fault }: BadPart): void {
  const call = peer.pending.get(id);
  if (call === undefined) return;
  peer.close(call, true, fault);
  call.fail(fault);
}

function tooEarly(peer: Peer, { id, method }: IncomingRequest): void {
  peer.answers.send(
    method === "ping"
      ? { jsonrpc: "2.0", id, result: {} }
      : { jsonrpc: "2.0", id, error: { code: rpcCodes.invalidRequest, message: "the session is not initialised" } },
  );
}
