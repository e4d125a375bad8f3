import { type Context, Fault, isObject, type JsonObject, type NoteReply, type Reply, weigh } from "../../core/index.js";

/** `subscriptions/listen` over a legacy server: its unsolicited notifications, and subscriptions counted per resource. */
export interface Changes {
  listen(params: JsonObject, context: Context): AsyncGenerator<Reply, JsonObject>;
  /** Takes a notification of the server if it is a change. */
  take(method: string, params: JsonObject): boolean;
  close(reason: Fault): void;
}

const lists = new Map([
  ["toolsListChanged", { method: "notifications/tools/list_changed", feature: "tools" }],
  ["promptsListChanged", { method: "notifications/prompts/list_changed", feature: "prompts" }],
  ["resourcesListChanged", { method: "notifications/resources/list_changed", feature: "resources" }],
]);
const UPDATED = "notifications/resources/updated";

interface Subscriber {
  readonly methods: ReadonlySet<string>;
  readonly uris: ReadonlySet<string>;
  /** Unread changes, each once. */
  readonly unread: Map<string, NoteReply>;
  /** What they add up to: a server may tell of any number of parts of a resource. */
  bytes: number;
  wake: (() => void) | undefined;
  reason: Fault | undefined;
}

export interface ChangesOptions {
  readonly capabilities: JsonObject;
  /** Asks the server on the edge's own account. */
  readonly ask: (method: string, params: JsonObject) => Promise<JsonObject>;
  /** Bytes of changes that may wait for one listener. */
  readonly callBytes: number;
}

export function changes({ capabilities, ask, callBytes }: ChangesOptions): Changes {
  const subscribers = new Set<Subscriber>();
  const counts = new Map<string, { count: number; subscribed: Promise<unknown> }>();

  const feature = (name: string, member: string): boolean => isObject(capabilities[name]) && capabilities[name][member] === true;
  const subscribe = (uri: string): Promise<unknown> => {
    const entry = counts.get(uri);
    if (entry !== undefined) {
      entry.count++;
      return entry.subscribed;
    }
    const subscribed = ask("resources/subscribe", { uri });
    counts.set(uri, { count: 1, subscribed });
    return subscribed;
  };
  const unsubscribe = (uri: string): void => {
    const entry = counts.get(uri);
    if (entry === undefined || --entry.count > 0) return;
    counts.delete(uri);
    ask("resources/unsubscribe", { uri }).catch(() => {});
  };
  const add = (subscriber: Subscriber, key: string, note: NoteReply): void => {
    if (subscriber.unread.has(key) || subscriber.reason !== undefined) return;
    subscriber.unread.set(key, note);
    subscriber.bytes += weigh(note.params);
    if (subscriber.bytes <= callBytes) return;
    subscriber.unread.clear();
    subscriber.reason = new Fault("overload", "the reader of this subscription is too slow for what its server tells", {
      data: { limit: "callBytes", max: callBytes },
    });
  };
  const wanted = (params: JsonObject): { honoured: JsonObject; methods: Set<string>; uris: string[] } => {
    const filter = isObject(params["notifications"]) ? params["notifications"] : {};
    const honoured: Record<string, unknown> = {};
    const methods = new Set<string>();
    for (const [name, list] of lists) {
      if (filter[name] !== true || !feature(list.feature, "listChanged")) continue;
      honoured[name] = true;
      methods.add(list.method);
    }
    const asked = filter["resourceSubscriptions"];
    const uris = Array.isArray(asked) && feature("resources", "subscribe") ? asked.filter((uri) => typeof uri === "string") : [];
    return { honoured, methods, uris };
  };

  return {
    async *listen(params, context) {
      const { honoured, methods, uris } = wanted(params);
      const subscriber: Subscriber = { methods, uris: new Set(uris), unread: new Map(), bytes: 0, wake: undefined, reason: undefined };
      // Before the first answer, so that no change falls between it and the subscription.
      subscribers.add(subscriber);
      const unhook = context.cancel.on(() => subscriber.wake?.());
      const held: string[] = [];
      try {
        for (const uri of uris) held.push(uri);
        await Promise.all(uris.map(subscribe));
        const accepted = uris.length > 0 ? { ...honoured, resourceSubscriptions: uris } : honoured;
        yield { kind: "note", method: "notifications/subscriptions/acknowledged", params: { notifications: accepted } };
        while (!context.cancel.fired) {
          const first = subscriber.unread.entries().next().value;
          if (first !== undefined) {
            subscriber.unread.delete(first[0]);
            subscriber.bytes -= weigh(first[1].params);
            yield first[1];
          } else if (subscriber.reason !== undefined) throw subscriber.reason;
          else
            await new Promise<void>((resolve) => {
              subscriber.wake = resolve;
            });
        }
        return {};
      } finally {
        unhook();
        subscribers.delete(subscriber);
        for (const uri of held) unsubscribe(uri);
      }
    },
    take(method, params) {
      const list = [...lists.values()].some((each) => each.method === method);
      if (!list && method !== UPDATED) return false;
      const uri = String(params["uri"]);
      for (const subscriber of subscribers) {
        if (list ? !subscriber.methods.has(method) : !covers(subscriber.uris, uri)) continue;
        add(subscriber, list ? method : `${method} ${uri}`, { kind: "note", method, params });
        subscriber.wake?.();
      }
      return true;
    },
    close(reason) {
      for (const subscriber of subscribers) {
        subscriber.reason = reason;
        subscriber.wake?.();
      }
    },
  };
}

/** An update may be of a sub-resource of the one subscribed to. */
function covers(uris: ReadonlySet<string>, uri: string): boolean {
  if (uris.has(uri)) return true;
  for (const prefix of uris) if (uri.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)) return true;
  return false;
}
