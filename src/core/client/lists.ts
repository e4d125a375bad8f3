import { isObject, type JsonObject } from "../json.js";
import { listMembers } from "../methods.js";
import { Collected } from "./collect.js";
import type { Engine, EngineCallOptions } from "./engine.js";
import { leavable, type Stream } from "./stream.js";

/** A list's items one by one; the next page is asked for only when it is read. */
export function listItems<T extends JsonObject>(engine: Engine, method: string, callOptions: EngineCallOptions): Stream<T> {
  const exchange = engine.exchange(method, {}, callOptions);
  async function* items(): AsyncGenerator<T, undefined, undefined> {
    for (;;) {
      const step = await exchange.next();
      if (step.done === true) return;
      const reply = step.value;
      if (reply.kind === "item") yield reply.value as T;
      else if (reply.kind === "result") {
        engine.complete(reply.value);
        const whole = reply.value[listMembers.get(method) ?? "items"];
        if (Array.isArray(whole)) yield* whole.filter(isObject) as T[];
        return;
      } else engine.hear(reply, method, {}, callOptions);
    }
  }
  return leavable(items(), () => void exchange.return());
}

/** One page as its server made it, or without a cursor the whole list as one result. */
export async function listPage(
  engine: Engine,
  method: string,
  cursor: string | undefined,
  callOptions: EngineCallOptions,
): Promise<JsonObject> {
  if (cursor === undefined) return engine.complete(await engine.call(method, {}, callOptions));
  const params = { cursor };
  const exchange = engine.exchange(method, params, callOptions);
  const collected = new Collected(method, engine.collectBytes);
  try {
    for await (const reply of exchange) {
      if (reply.kind === "page") return collected.page(reply);
      if (reply.kind === "result") return engine.complete(collected.whole(reply.value));
      if (!engine.hear(reply, method, params, callOptions)) collected.add(reply);
    }
    throw engine.unfinished();
  } finally {
    void exchange.return();
  }
}
