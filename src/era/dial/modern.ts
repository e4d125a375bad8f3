import { namedCall } from "../../codec/index.js";
import { Fault, type JsonObject, rpcCodes } from "../../core/index.js";
import { sealModern } from "../envelope.js";
import { type EraRules, stampsOf } from "./era-rules.js";
import type { Peer } from "./peer.js";

/** A modern peer: every request says who calls, and the peer sends no requests. */
export function modernRules(peer: Peer): EraRules {
  return {
    era: "modern",
    params(call, id): JsonObject {
      return sealModern(call.request, call.context, stampsOf(peer, call, id, "modern"));
    },
    request({ id, method }) {
      peer.fault(new Fault("invalid-request", `the server sent a request, ${method}, which its protocol version does not have`));
      peer.answers.send({ jsonrpc: "2.0", id, error: { code: rpcCodes.unknownMethod, message: `unknown method: ${method}` } });
    },
    notification({ method, params }) {
      if (method !== "notifications/cancelled") return false;
      // A server ends a subscription with it. It may not cancel anything else.
      const id = namedCall(params);
      const call = id === undefined ? undefined : peer.pending.get(id);
      if (call?.request.method === "subscriptions/listen") {
        peer.close(call, false);
        call.push({ kind: "result", value: {} });
      }
      return true;
    },
  };
}
