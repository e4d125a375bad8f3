import { withNumbers } from "../exact.js";
import type { Reply } from "../service.js";

/** A reply for a program to read. A number that JavaScript would change becomes a Fault that says where it stands. */
export function readable(reply: Reply): Reply {
  switch (reply.kind) {
    case "result":
    case "item": {
      const value = withNumbers(reply.value, reply.kind, "invalid-request");
      return value === reply.value ? reply : { ...reply, value };
    }
    case "page": {
      const rest = withNumbers(reply.rest, "result", "invalid-request");
      return rest === reply.rest ? reply : { ...reply, rest };
    }
    case "content": {
      const head = withNumbers(reply.head, "content", "invalid-request");
      return head === reply.head ? reply : { ...reply, head };
    }
    case "progress":
    case "log":
    case "note": {
      const params = withNumbers(reply.params, "params", "invalid-request");
      return params === reply.params ? reply : { ...reply, params };
    }
    default:
      return reply;
  }
}
