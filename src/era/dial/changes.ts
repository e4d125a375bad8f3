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

export function changes(options: ChangesOptions): ServerChanges {
  return new Changes(options);
}

class Changes implements ServerChanges {
  readonly #options: ChangesOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #counts = new Map<string, { count: number; subscribed: Promise<JsonObject> }>();
  /** The URIs that legacy clients subscribed to themselves. */
  readonly #sessions = new Map<Identity, Set<string>>();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  async *listen(params: JsonObject, context: Context): AsyncGenerator<Reply, JsonObject> {
    const { honoured, methods, uris } = this.#wanted(params);
    const subscriber: Subscriber = { methods, uris: new Set(uris), unread: new ChangeQueue(this.#options.callBytes) };
    // Before the acknowledgement, so that no change is missed between it and the subscription.
    this.#subscribers.add(subscriber);
    const unhook = context.cancel.on(() => subscriber.unread.end());
    const held: string[] = [];
    try {
      for (const uri of uris) held.push(uri);
      await Promise.all(uris.map((uri) => this.#subscribe(uri)));
      const accepted = uris.length > 0 ? { ...honoured, resourceSubscriptions: uris } : honoured;
      yield { kind: "note", method: ACKNOWLEDGED, params: { notifications: accepted } };
      while (!context.cancel.fired) {
        const note = await subscriber.unread.next();
        if (note !== undefined) yield note;
      }
      return {};
    } finally {
      unhook();
      this.#subscribers.delete(subscriber);
      for (const uri of held) this.#leave(uri);
    }
  }

  async subscribe(params: JsonObject, { client, trace }: Context): Promise<JsonObject> {
    const { uri } = params;
    if (typeof uri !== "string") return this.#options.ask("resources/subscribe", params, trace);
    const uris = this.#sessionOf(client.identity);
    if (uris.has(uri)) return {};
    uris.add(uri);
    try {
      return await this.#subscribe(uri, params, trace);
    } catch (error) {
      uris.delete(uri);
      throw error;
    }
  }

  unsubscribe(params: JsonObject, { client, trace }: Context): Promise<JsonObject> {
    const { uri } = params;
    const pass = (): Promise<JsonObject> => this.#options.ask("resources/unsubscribe", params, trace);
    if (typeof uri !== "string") return pass();
    if (this.#sessions.get(client.identity)?.delete(uri) === true) return this.#unsubscribe(uri, params, trace);
    return this.#counts.has(uri) ? Promise.resolve({}) : pass();
  }

  take(method: string, params: JsonObject): boolean {
    const list = [...lists.values()].some((each) => each.method === method);
    if (!list && method !== UPDATED) return false;
    const uri = String(params["uri"]);
    for (const subscriber of this.#subscribers) {
      if (list ? !subscriber.methods.has(method) : !covers(subscriber.uris, uri)) continue;
      subscriber.unread.add(list ? method : `${method} ${uri}`, { kind: "note", method, params });
    }
    const { listeners, onlyListener } = this.#options;
    // A legacy server may report changes of resources that nobody subscribed to.
    const unasked = list || covers(this.#counts, uri) ? undefined : onlyListener();
    for (const listener of listeners()) {
      const uris = this.#sessions.get(listener.context.client.identity);
      if (listener.changes && (list || listener === unasked || (uris !== undefined && covers(uris, uri))))
        listener.push({ kind: "note", method, params });
    }
    return true;
  }

  close(reason: Fault): void {
    for (const { unread } of this.#subscribers) unread.end(reason);
  }

  #subscribe(uri: string, params: JsonObject = { uri }, trace?: Context["trace"]): Promise<JsonObject> {
    const entry = this.#counts.get(uri);
    if (entry !== undefined) {
      entry.count++;
      return entry.subscribed;
    }
    const begun = { count: 1, subscribed: this.#options.ask("resources/subscribe", params, trace) };
    this.#counts.set(uri, begun);
    begun.subscribed.catch(() => this.#counts.get(uri) === begun && this.#counts.delete(uri));
    return begun.subscribed;
  }

  #unsubscribe(uri: string, params: JsonObject = { uri }, trace?: Context["trace"]): Promise<JsonObject> {
    const entry = this.#counts.get(uri);
    if (entry !== undefined && --entry.count > 0) return Promise.resolve({});
    this.#counts.delete(uri);
    return this.#options.ask("resources/unsubscribe", params, trace);
  }

  #leave(uri: string): void {
    if (this.#counts.has(uri)) this.#unsubscribe(uri).catch(() => {});
  }

  #sessionOf(identity: Identity): Set<string> {
    const known = this.#sessions.get(identity);
    if (known !== undefined) return known;
    const uris = new Set<string>();
    this.#sessions.set(identity, uris);
    identity.ended.on(() => {
      this.#sessions.delete(identity);
      for (const uri of uris) this.#leave(uri);
    });
    return uris;
  }

  #feature(name: string, member: string): boolean {
    const declared = this.#options.capabilities()[name];
    return isObject(declared) && declared[member] === true;
  }

  #wanted(params: JsonObject): { readonly honoured: JsonObject; readonly methods: ReadonlySet<string>; readonly uris: readonly string[] } {
    const filter = isObject(params["notifications"]) ? params["notifications"] : {};
    const honoured: Record<string, unknown> = {};
    const methods = new Set<string>();
    for (const [name, list] of lists) {
      if (filter[name] !== true || !this.#feature(list.feature, "listChanged")) continue;
      honoured[name] = true;
      methods.add(list.method);
    }
    const asked = filter["resourceSubscriptions"];
    const uris = Array.isArray(asked) && this.#feature("resources", "subscribe") ? asked.filter((uri) => typeof uri === "string") : [];
    return { honoured, methods, uris };
  }
}
