import { type Context, failing, guard, type JsonObject, type Replies, type Reply, type Request } from "../../core/index.js";
import { questions } from "../questions.js";
import type { Peer } from "./peer.js";

/** What belongs to no call, from a modern peer. An Anywire end also brings what a legacy server behind it says so to a legacy client. */
export function ambientOver(peer: Peer, request: Request, context: Context): Replies {
  if (peer.kin && context.client.era === "legacy") return guard((inner) => rounds(peer, request, inner), context);
  return context.cancel.reason === undefined ? peer.unnamed.listen(context, false, () => {}) : failing(context.cancel.reason);
}

/** Its questions end it, as they end every modern call; with the answers it goes on. */
async function* rounds(peer: Peer, request: Request, context: Context): AsyncGenerator<Reply, JsonObject> {
  let params = request.params;
  for (;;) {
    let result: JsonObject | undefined;
    for await (const reply of peer.call({ method: request.method, params }, context)) {
      if (reply.kind === "result") result = reply.value;
      else yield reply;
    }
    if (result?.["resultType"] !== "input_required") return result ?? {};
    const { asks, answers } = questions(result["inputRequests"] ?? {}, context.cancel);
    for (const ask of asks) yield { kind: "ask", ask };
    params = { ...request.params, inputResponses: await answers, requestState: result["requestState"] };
  }
}
