import type { JsonObject } from "../../../src/api/index.js";
import { events, modernHeaders, type Rpc } from "../../http/requests.js";
import type { Caller } from "../caller.js";
import { modernCaller } from "./raw.js";

/** A modern client that is nothing but `fetch`: each request is one POST. */
export async function fetchCaller(name: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<Caller> {
  const heard: string[] = [];
  const gone = new AbortController();
  let count = 0;
  const outcome = (message: Rpc): JsonObject | undefined => {
    heard.push(JSON.stringify(message));
    if (message.error !== undefined) throw new Error(message.error.message);
    return message.result;
  };
  return modernCaller(name, {
    heard,
    async request(method, params) {
      const body = { jsonrpc: "2.0", id: ++count, method, params };
      const sent = { method: "POST", headers: { ...modernHeaders(body), ...headers }, body: JSON.stringify(body), signal: gone.signal };
      const answer = await fetch(url, sent);
      if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) return outcome((await answer.json()) as Rpc) ?? {};
      for await (const { message } of events(answer)) {
        const result = message === undefined ? undefined : outcome(message);
        if (result !== undefined) return result;
      }
      throw new Error("the stream ended without a result");
    },
    close: async () => gone.abort(),
  });
}
