import { isObject } from "../json.js";
import { passesLevel } from "../methods.js";
import type { Context, LogReply, NoteReply, Request } from "../service.js";
import { Feed } from "./feed.js";
import { note } from "./yields.js";

/** The features whose lists may change. */
export type Feature = "tools" | "prompts" | "resources";
const features: readonly Feature[] = ["tools", "prompts", "resources"];

/** Log entries that may wait for one ambient reader. */
const ambientLimit = 256;

interface Subscription {
  readonly features: ReadonlySet<Feature>;
  readonly uris: ReadonlySet<string>;
}

/** The calls that listen for changes, and those that listen for logs outside any call. */
export class ChangeListeners {
  readonly #listeners = new Map<Feed, Subscription>();
  readonly #ambient = new Map<Feed, Context>();
  #closed = false;
  /** Log entries that no ambient reader took in time. */
  dropped = 0;

  listen(request: Request, has: (feature: Feature) => boolean): Feed {
    const asked = isObject(request.params["notifications"]) ? request.params["notifications"] : {};
    const wanted = features.filter((feature) => asked[`${feature}ListChanged`] === true && has(feature));
    const uris = has("resources") ? strings(asked["resourceSubscriptions"]) : [];
    const honoured: Record<string, unknown> = {};
    for (const feature of wanted) honoured[`${feature}ListChanged`] = true;
    if (uris.length > 0) honoured["resourceSubscriptions"] = uris;
    const subscription: Subscription = { features: new Set(wanted), uris: new Set(uris) };
    // Each subject waits at most once, so this limit is never exceeded.
    const feed = new Feed(1 + features.length + subscription.uris.size, (left) => this.#listeners.delete(left));
    feed.push(note("notifications/subscriptions/acknowledged", { notifications: honoured }));
    return this.#admit(feed, this.#listeners, subscription);
  }

  ambient(context: Context): Feed {
    return this.#admit(new Feed(ambientLimit, (left) => this.#ambient.delete(left)), this.#ambient, context);
  }

  changed(feature: Feature): void {
    const reply = note(`notifications/${feature}/list_changed`);
    this.#tell(reply, reply.method, (subscription) => subscription.features.has(feature));
  }

  updated(uri: string): void {
    this.#tell(note("notifications/resources/updated", { uri }), `updated ${uri}`, (subscription) => subscription.uris.has(uri));
  }

  log(reply: LogReply): void {
    const ambient: LogReply = { ...reply, ambient: true };
    for (const [feed, { logLevel }] of this.#ambient) {
      // Without a level everything passes: the level of a session may change while its ambient call is open.
      if (logLevel !== undefined && !passesLevel(reply.params["level"], logLevel)) continue;
      if (!feed.push(ambient)) this.dropped++;
    }
  }

  close(): void {
    this.#closed = true;
    for (const feed of [...this.#listeners.keys(), ...this.#ambient.keys()]) feed.end();
  }

  #admit<T>(feed: Feed, feeds: Map<Feed, T>, about: T): Feed {
    if (this.#closed) feed.end();
    else feeds.set(feed, about);
    return feed;
  }

  #tell(reply: NoteReply, key: string, wants: (subscription: Subscription) => boolean): void {
    for (const [feed, subscription] of this.#listeners) if (wants(subscription)) feed.push(reply, key);
  }
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.filter((element): element is string => typeof element === "string"))] : [];
}
