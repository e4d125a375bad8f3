import type { JsonObject } from "../json.js";
import type { Message } from "../service.js";
import type { Engine, EngineCallOptions } from "./engine.js";
import type { CallExchange } from "./exchange.js";
import { requireCapability, type ServerView } from "./server-view.js";
import { leavable, type Stream } from "./stream.js";

/** The changes to listen for. Members of extensions are passed on as they are. */
export interface ListenFilter extends JsonObject {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

const needed: ReadonlyMap<string, string> = new Map([
  ["toolsListChanged", "tools.listChanged"],
  ["promptsListChanged", "prompts.listChanged"],
  ["resourcesListChanged", "resources.listChanged"],
  ["resourceSubscriptions", "resources.subscribe"],
]);

/** The capabilities of which a listen with this filter needs at least one; undefined if the filter also has other members. */
export function listenNeeds(filter: ListenFilter): string[] | undefined {
  const paths: string[] = [];
  for (const [member, value] of Object.entries(filter)) {
    if (value === undefined || value === false) continue;
    const path = needed.get(member);
    if (path === undefined) return undefined;
    paths.push(path);
  }
  return paths.length === 0 ? undefined : paths;
}

export function openListen(engine: Engine, filter: ListenFilter, callOptions: EngineCallOptions): CallExchange {
  return engine.exchange("subscriptions/listen", { notifications: filter }, { ...callOptions, lasting: true });
}

/** The notifications of one subscription, the acknowledgement first; ends when the server ends it. */
export function listenStream(engine: Engine, server: ServerView, filter: ListenFilter, callOptions: EngineCallOptions): Stream<Message> {
  const exchange = openListen(engine, filter, callOptions);
  async function* notes(): AsyncGenerator<Message, undefined, undefined> {
    const paths = listenNeeds(filter);
    if (paths !== undefined) requireCapability(server, "be listened to", paths);
    for (;;) {
      const step = await exchange.next();
      if (step.done === true || step.value.kind === "result") return;
      if (step.value.kind === "note") yield { method: step.value.method, params: step.value.params };
      else engine.hear(step.value, "subscriptions/listen", filter, callOptions);
    }
  }
  return leavable(notes(), () => void exchange.return());
}
