import {
  Canceller,
  type Context,
  Fault,
  type Identity,
  isObject,
  type JsonObject,
  type NoteReply,
  noParams,
  outgoingMetadata,
  type Replies,
  type Reply,
  type Request,
  toFault,
} from "../../core/index.js";
import { ChangeQueue } from "./change-queue.js";
import { ACKNOWLEDGED, covers, lists, UPDATED } from "./news.js";

export interface SharedListensOptions {
  /** The identity that opens the streams. */
  readonly self: Identity;
  /** Bytes of changes that may wait for one subscriber. */
  readonly callBytes: number;
  call(request: Request, context: Context): Replies;
}

/** What a subscription is about: a list, by its filter member, or a resource, by `uri ` and its URI. */
type Topic = string;
const RESOURCE = "uri ";

/** A topic that somebody wants. */
interface Entry {
  subscribers: number;
  /** The stream that reports it. */
  stream: Stream | undefined;
  /** Whether the server reports it. Rejects if the server could not be asked. */
  readonly accepted: Promise<boolean>;
  settle(accepted: boolean | Fault): void;
}

/** One `subscriptions/listen` of the server. */
interface Stream {
  readonly cancel: Canceller;
  readonly topics: readonly Topic[];
  acknowledged: boolean;
}

interface Subscriber {
  readonly topics: ReadonlySet<Topic>;
  readonly uris: ReadonlySet<string>;
  readonly unread: ChangeQueue;
}

/**
 * The subscriptions of all callers on one connection to a modern server. A stream for each would use up the connections that calls need, so
 * a few streams report what everybody wants. One stream is opened at a time, for all topics that were asked for meanwhile. It replaces the
 * streams that are not larger: with `n` topics there are about log n streams, and each topic is asked for about log n times.
 */
export class SharedListens {
  readonly #options: SharedListensOptions;
  readonly #entries = new Map<Topic, Entry>();
  readonly #subscribers = new Set<Subscriber>();
  /** The largest first. */
  #streams: Stream[] = [];
  #wanted = new Set<Topic>();
  #opening = false;

  constructor(options: SharedListensOptions) {
    this.#options = options;
  }

  /** Whether a request can share a stream: it asks for nothing but changes that any subscriber may get. */
  static takes({ params }: Request, context: Context): boolean {
    const { notifications, ...others } = params;
    if (context.client.identity.span === "self" || Object.keys(others).length > 0 || !isObject(notifications)) return false;
    return outgoingMetadata(context) === undefined && Object.keys(notifications).every((name) => lists.has(name) || name === URIS);
  }

  async *listen({ params }: Request, context: Context): AsyncGenerator<Reply, JsonObject> {
    const topics = topicsOf(isObject(params["notifications"]) ? params["notifications"] : noParams);
    const uris = topics.filter((topic) => topic.startsWith(RESOURCE)).map((topic) => topic.slice(RESOURCE.length));
    const subscriber: Subscriber = { topics: new Set(topics), uris: new Set(uris), unread: new ChangeQueue(this.#options.callBytes) };
    const unhook = context.cancel.on(() => subscriber.unread.end());
    // Before the acknowledgement, so that no change is missed between it and the subscription.
    this.#subscribers.add(subscriber);
    try {
      const accepted = await Promise.all([...subscriber.topics].map((topic) => this.#join(topic, context)));
      const honoured = [...subscriber.topics].filter((_topic, at) => accepted[at] === true);
      yield { kind: "note", method: ACKNOWLEDGED, params: { notifications: filterOf(honoured) } };
      for (let note = await subscriber.unread.next(); note !== undefined; note = await subscriber.unread.next()) yield note;
      return {};
    } finally {
      unhook();
      this.#subscribers.delete(subscriber);
      for (const topic of subscriber.topics) this.#leave(topic);
    }
  }

  #join(topic: Topic, context: Context): Promise<boolean> {
    const known = this.#entries.get(topic) ?? newEntry();
    known.subscribers++;
    if (known.subscribers === 1) {
      this.#entries.set(topic, known);
      this.#wanted.add(topic);
      if (!this.#opening) void this.#open(context);
    }
    return known.accepted;
  }

  #leave(topic: Topic): void {
    const entry = this.#entries.get(topic);
    if (entry === undefined || --entry.subscribers > 0) return;
    this.#entries.delete(topic);
    this.#wanted.delete(topic);
    const { stream } = entry;
    if (stream === undefined || stream.topics.some((each) => this.#entries.get(each)?.stream === stream)) return;
    this.#streams = this.#streams.filter((each) => each !== stream);
    stream.cancel.fire();
  }

  /** Opens streams until every wanted topic has one. */
  async #open(context: Context): Promise<void> {
    this.#opening = true;
    // Many requests may come in one turn.
    await Promise.resolve();
    while (this.#wanted.size > 0) {
      const topics = new Set(this.#wanted);
      this.#wanted = new Set();
      const replaced: Stream[] = [];
      for (let last = this.#streams.at(-1); last !== undefined && this.#liveOf(last).length <= topics.size; last = this.#streams.at(-1)) {
        for (const topic of this.#liveOf(last)) topics.add(topic);
        replaced.push(last);
        this.#streams.pop();
      }
      const stream: Stream = { cancel: new Canceller(), topics: [...topics], acknowledged: false };
      const opened = await this.#read(stream, context);
      if (!opened) this.#streams.push(...replaced.reverse());
      else {
        this.#streams.push(stream);
        for (const { cancel } of replaced) cancel.fire();
      }
    }
    this.#opening = false;
  }

  #liveOf(stream: Stream): Topic[] {
    return stream.topics.filter((topic) => this.#entries.get(topic)?.stream === stream);
  }

  /** Reads a stream until it ends. Resolves with true once the server has acknowledged it, with false if it ended before. */
  #read(stream: Stream, { client }: Context): Promise<boolean> {
    const { call, self } = this.#options;
    const request = { method: "subscriptions/listen", params: { notifications: filterOf(stream.topics) } };
    const replies = call(request, { client: { ...client, identity: self }, cancel: stream.cancel, progress: false, metadata: {} });
    return new Promise((resolve) => {
      const run = async (): Promise<Fault | undefined> => {
        for await (const reply of replies) {
          if (reply.kind !== "note") continue;
          if (reply.method !== ACKNOWLEDGED) this.#tell(stream, reply);
          else {
            this.#accept(stream, reply.params);
            resolve(true);
          }
        }
        return undefined;
      };
      run()
        .catch(toFault)
        .then((fault) => {
          this.#end(stream, fault);
          resolve(false);
        });
    });
  }

  #accept(stream: Stream, { notifications }: JsonObject): void {
    const honoured = new Set(topicsOf(isObject(notifications) ? notifications : {}));
    stream.acknowledged = true;
    for (const topic of stream.topics) {
      const entry = this.#entries.get(topic);
      if (entry === undefined) continue;
      entry.stream = stream;
      entry.settle(honoured.has(topic));
    }
  }

  /** Passes on a change. A stream that was replaced is ignored for the topics that another reports now. */
  #tell(stream: Stream, note: NoteReply): void {
    const list = [...lists].find(([, { method }]) => method === note.method)?.[0];
    const uri = String(note.params["uri"]);
    const told = (topic: Topic): boolean => this.#entries.get(topic)?.stream === stream;
    for (const { topics, uris, unread } of this.#subscribers) {
      if (
        list !== undefined ? topics.has(list) && told(list) : note.method === UPDATED && covers(uris, uri) && this.#covered(uris, uri, told)
      )
        unread.add(list ?? `${note.method} ${uri}`, note);
    }
  }

  #covered(uris: ReadonlySet<string>, uri: string, told: (topic: Topic) => boolean): boolean {
    if (uris.has(uri)) return told(RESOURCE + uri);
    return [...uris].some((each) => covers(new Set([each]), uri) && told(RESOURCE + each));
  }

  /** Whether a topic without a stream waits for this one. After its last subscriber left, a topic may wait for another already. */
  #waitsFor({ acknowledged }: Stream, topic: Topic, { stream }: Entry): boolean {
    return stream === undefined && !acknowledged && !this.#wanted.has(topic);
  }

  /** The stream has ended. The subscriptions that it reported end with it, and so do those that waited for it. */
  #end(stream: Stream, fault: Fault | undefined): void {
    this.#streams = this.#streams.filter((each) => each !== stream);
    const reason = fault ?? new Fault("unavailable", "the server ended the subscription");
    const over = new Set<Topic>();
    for (const topic of stream.topics) {
      const entry = this.#entries.get(topic);
      if (entry === undefined || !(entry.stream === stream || this.#waitsFor(stream, topic, entry))) continue;
      entry.settle(reason);
      over.add(topic);
    }
    for (const { topics, unread } of this.#subscribers) if ([...topics].some((topic) => over.has(topic))) unread.end(fault);
    // The next subscriber asks again.
    for (const topic of over) this.#entries.delete(topic);
  }
}

const URIS = "resourceSubscriptions";

function topicsOf(filter: JsonObject): Topic[] {
  const uris = filter[URIS];
  const named = [...lists.keys()].filter((name) => filter[name] === true);
  return [...named, ...(Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string").map((uri) => RESOURCE + uri) : [])];
}

function filterOf(topics: readonly Topic[]): JsonObject {
  const uris = topics.filter((topic) => topic.startsWith(RESOURCE)).map((topic) => topic.slice(RESOURCE.length));
  const named = topics.filter((topic) => !topic.startsWith(RESOURCE)).map((name) => [name, true]);
  return { ...Object.fromEntries(named), ...(uris.length > 0 ? { [URIS]: uris } : undefined) };
}

function newEntry(): Entry {
  let settle: Entry["settle"] = () => {};
  const accepted = new Promise<boolean>((resolve, reject) => {
    settle = (outcome) => (outcome instanceof Fault ? reject(outcome) : resolve(outcome));
  });
  accepted.catch(() => {});
  return { subscribers: 0, stream: undefined, accepted, settle };
}
