import { type Context, type Fault, type Identity, isObject, type JsonObject, type Reply } from "../../core/index.js";
import type { AmbientCall } from "./ambient.js";
import { ChangeQueue } from "./change-queue.js";
import { ACKNOWLEDGED, covers, lists, UPDATED } from "./news.js";

/**
 * The changes that a legacy server reports, for modern subscriptions and for legacy clients. Each resource is subscribed to once, however
 * many clients want it.
 */
export interface ServerChanges {
  listen(params: JsonObject, context: Context): AsyncGenerator<Reply, JsonObject>;
  /** A legacy client's own `resources/subscribe` and `resources/unsubscribe`. Its ambient call delivers the changes. */
  subscribe(params: JsonObject, context: Context): Promise<JsonObject>;
  unsubscribe(params: JsonObject, context: Context): Promise<JsonObject>;
  /** Takes a notification of the server; true if it is a change. */
  take(method: string, params: JsonObject): boolean;
  close(reason: Fault): void;
}

interface Subscriber {
  readonly methods: ReadonlySet<string>;
  readonly uris: ReadonlySet<string>;
  readonly unread: ChangeQueue;
}

export interface ChangesOptions {
  /** The server's current capabilities. */
  readonly capabilities: () => JsonObject;
  /** Sends the server a request of the edge itself. */
  readonly ask: (method: string, params: JsonObject, trace?: Context["trace"]) => Promise<JsonObject>;
  /** Bytes of changes that may wait for one listener. */
  readonly callBytes: number;
  /** The ambient calls: those on which clients listen for messages outside any call. */
  readonly listeners: () => Iterable<AmbientCall>;
  /** The one ambient call that a message for nobody in particular can be for, if there is only one. */
  readonly onlyListener: () => AmbientCall | undefined;
}

export function changes({ capabilities, ask, callBytes, listeners, onlyListener }: ChangesOptions): ServerChanges {
  const subscribers = new Set<Subscriber>();
  const counts = new Map<string, { count: number; subscribed: Promise<JsonObject> }>();
  /** The URIs that legacy clients subscribed to themselves. */
  const sessions = new Map<Identity, Set<string>>();

  const feature = (name: string, member: string): boolean => {
    const declared = capabilities()[name];
    return isObject(declared) && declared[member] === true;
  };
  const subscribe = (uri: string, params: JsonObject = { uri }, trace?: Context["trace"]): Promise<JsonObject> => {
    const entry = counts.get(uri);
    if (entry !== undefined) {
      entry.count++;
      return entry.subscribed;
    }
    const begun = { count: 1, subscribed: ask("resources/subscribe", params, trace) };
    counts.set(uri, begun);
    begun.subscribed.catch(() => counts.get(uri) === begun && counts.delete(uri));
    return begun.subscribed;
  };
  const unsubscribe = (uri: string, params: JsonObject = { uri }, trace?: Context["trace"]): Promise<JsonObject> => {
    const entry = counts.get(uri);
    if (entry !== undefined && --entry.count > 0) return Promise.resolve({});
    counts.delete(uri);
    return ask("resources/unsubscribe", params, trace);
  };
  const leave = (uri: string): void => void (counts.has(uri) && unsubscribe(uri).catch(() => {}));
  const sessionOf = (identity: Identity): Set<string> => {
    const known = sessions.get(identity);
    if (known !== undefined) return known;
    const uris = new Set<string>();
    sessions.set(identity, uris);
    identity.ended.on(() => {
      sessions.delete(identity);
      for (const uri of uris) leave(uri);
    });
    return uris;
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
      const subscriber: Subscriber = { methods, uris: new Set(uris), unread: new ChangeQueue(callBytes) };
      // Before the acknowledgement, so that no change is missed between it and the subscription.
      subscribers.add(subscriber);
      const unhook = context.cancel.on(() => subscriber.unread.end());
      const held: string[] = [];
      try {
        for (const uri of uris) held.push(uri);
        await Promise.all(uris.map((uri) => subscribe(uri)));
        const accepted = uris.length > 0 ? { ...honoured, resourceSubscriptions: uris } : honoured;
        yield { kind: "note", method: ACKNOWLEDGED, params: { notifications: accepted } };
        while (!context.cancel.fired) {
          const note = await subscriber.unread.next();
          if (note !== undefined) yield note;
        }
        return {};
      } finally {
        unhook();
        subscribers.delete(subscriber);
        for (const uri of held) leave(uri);
      }
    },
    async subscribe(params, { client, trace }) {
      const { uri } = params;
      if (typeof uri !== "string") return ask("resources/subscribe", params, trace);
      const uris = sessionOf(client.identity);
      if (uris.has(uri)) return {};
      uris.add(uri);
      try {
        return await subscribe(uri, params, trace);
      } catch (error) {
        uris.delete(uri);
        throw error;
      }
    },
    unsubscribe(params, { client, trace }) {
      const { uri } = params;
      if (typeof uri !== "string") return ask("resources/unsubscribe", params, trace);
      if (sessions.get(client.identity)?.delete(uri) === true) return unsubscribe(uri, params, trace);
      return counts.has(uri) ? Promise.resolve({}) : ask("resources/unsubscribe", params, trace);
    },
    take(method, params) {
      const list = [...lists.values()].some((each) => each.method === method);
      if (!list && method !== UPDATED) return false;
      const uri = String(params["uri"]);
      for (const subscriber of subscribers) {
        if (list ? !subscriber.methods.has(method) : !covers(subscriber.uris, uri)) continue;
        subscriber.unread.add(list ? method : `${method} ${uri}`, { kind: "note", method, params });
      }
      // A legacy server may report changes of resources that nobody subscribed to.
      const unasked = list || covers(counts, uri) ? undefined : onlyListener();
      for (const listener of listeners()) {
        const uris = sessions.get(listener.context.client.identity);
        if (listener.changes && (list || listener === unasked || (uris !== undefined && covers(uris, uri))))
          listener.push({ kind: "note", method, params });
      }
      return true;
    },
    close(reason) {
      for (const { unread } of subscribers) unread.end(reason);
    },
  };
}
