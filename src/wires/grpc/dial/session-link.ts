import type { Id, Incoming, IncomingPart, OutgoingMessage } from "../../../codec/index.js";
import { decodeToClient, encodeToServer } from "../../../codec/mcpv1/index.js";
import { defaultLimits, Fault, type Limits, toFault } from "../../../core/index.js";
import { type Link, type LinkTraits, sharedStream } from "../../../era/index.js";
import type { Channel, ClientCall, Metadata } from "../../../io/index.js";
import { type Pipe, pipe } from "../../../stream/index.js";
import { header, SERVICE } from "../names.js";
import { fitting } from "./fitting.js";
import { Renewal } from "./renewal.js";

type Message = Incoming | IncomingPart;

/** Batches of messages that may wait for the reader. */
const BATCHES = 64;
/** Milliseconds until the stream of a session that broke is opened again; twice as many each time that fails, up to the most. */
const FIRST_MS = 100;
const MOST_MS = 10_000;

export interface SessionLink extends Link {
  /** The name of the stream that is open, as soon as its server has said it. */
  readonly stream: string | undefined;
  /** The name of the legacy session that the server keeps, once all was sent that was said in it; one whose stream broke begins again. */
  session(): Promise<string | undefined>;
}

export interface SessionLinkOptions {
  readonly metadata: Metadata;
  readonly limits?: Partial<Limits> | undefined;
  /** Whether a stream that breaks is opened anew. */
  readonly lasting: boolean;
  /** Where messages go, if not only those of this link go there. */
  readonly inbox?: Inbox;
}

export type Inbox = Pipe<readonly Message[]>;

export function inboxOf(): Inbox {
  return pipe<readonly Message[]>({ items: BATCHES });
}

/** Everything on one `Session` stream. When the stream breaks the calls on it fail, and the next opens a new one. */
export function sessionLink(channel: Channel, options: SessionLinkOptions): SessionLink {
  return new StreamLink(channel, options);
}

/** One stream for all calls, whose answers come in parts. */
const traits: LinkTraits = { ownStream: () => false, inParts: () => true, bytes: false };

class StreamLink implements SessionLink {
  readonly traits = traits;
  readonly part = sharedStream.part;
  readonly pace = sharedStream.pace;
  readonly #channel: Channel;
  readonly #options: SessionLinkOptions;
  readonly #limits: Limits;
  readonly #inbox: Inbox;
  /** The calls that are open, and their methods: an answer does not name its own. */
  #methods = new Map<Id, string>();
  #stream: ClientCall | undefined;
  stream: string | undefined;
  readonly #renewal = new Renewal();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #wait = FIRST_MS;
  #closed: Fault | undefined;

  constructor(channel: Channel, options: SessionLinkOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#inbox = options.inbox ?? inboxOf();
  }

  get incoming(): AsyncIterable<readonly Message[]> {
    return this.#inbox;
  }

  get backlog(): number {
    return this.#stream?.backlog ?? 0;
  }

  send(message: OutgoingMessage): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const request = "method" in message && "id" in message;
    if (request) this.#renewal.note(message);
    // What is said about calls of a stream that broke means nothing on the next.
    if (this.#stream === undefined && !request && !this.#renewal.begun) return done;
    try {
      const bytes = fitting(encodeToServer(message, { twin: true }), this.#limits);
      const stream = this.#stream ?? this.#open(message);
      if (request) this.#methods.set(message.id, message.method);
      else if ("method" in message && message.method === "notifications/cancelled")
        this.#methods.delete(message.params?.["requestId"] as Id);
      return stream.send(bytes)?.catch(rethrow) ?? done;
    } catch (error) {
      return Promise.reject(toFault(error));
    }
  }

  async session(): Promise<string | undefined> {
    const stream = this.#stream ?? (!this.#renewal.begun || this.#closed !== undefined ? undefined : this.#open());
    const id = (await stream?.headers)?.[header.session];
    // What was said on the stream goes first: an RPC that overtook it would find a session that has not begun.
    if (stream !== undefined && stream.backlog > 0) await new Promise<void>((resolve) => process.nextTick(resolve));
    return typeof id === "string" ? id : undefined;
  }

  async close(reason?: Fault): Promise<void> {
    this.#closed ??= reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
    clearTimeout(this.#retry);
    this.#stream?.done();
    this.#stream?.cancel();
    this.#inbox.close();
    await this.#channel.close();
  }

  #open(message?: OutgoingMessage): ClientCall {
    const stream = this.#channel.call(`${SERVICE}Session`, { metadata: { ...this.#options.metadata, [header.twins]: "1" } });
    this.#stream = stream;
    this.stream = undefined;
    stream.headers.then(
      (headers) => {
        const name = headers[header.session];
        if (this.#stream === stream && typeof name === "string") this.stream = name;
      },
      () => {},
    );
    void this.#read(stream);
    for (const before of this.#renewal.messages(message)) void stream.send(encodeToServer(before, { twin: true }))?.catch(() => {});
    return stream;
  }

  async #read(stream: ClientCall): Promise<void> {
    let reason = new Fault("unavailable", "the server closed the stream", { data: { reason: "closed" } });
    try {
      for await (const frames of stream.messages) {
        this.#wait = FIRST_MS;
        const messages: Message[] = [];
        for (const frame of frames) this.#take(frame, messages);
        if (!this.#inbox.offer(messages)) await this.#inbox.write(messages);
      }
    } catch (error) {
      reason = brokenBy(toFault(error));
    }
    if (this.#stream === stream) this.#stream = this.stream = undefined;
    this.#broken(reason);
  }

  #take(frame: Uint8Array, messages: Message[]): void {
    const decoded = decodeToClient(frame, (id) => this.#methods.get(id), this.#limits);
    for (const message of Array.isArray(decoded) ? decoded : [decoded as Message]) {
      if (message.kind === "result" || message.kind === "error") {
        const again = this.#renewal.answered(message.id);
        if (again !== undefined) {
          if (again.news !== undefined && message.kind === "result") messages.push(again.news);
          continue;
        }
        if (message.id !== undefined) this.#methods.delete(message.id);
      }
      messages.push(message);
    }
  }

  /** The calls of a stream end with it. */
  #broken(reason: Fault): void {
    const open = [...this.#methods.keys()];
    this.#methods = new Map();
    if (!this.#options.lasting) {
      this.#closed ??= reason;
      return void this.#inbox.fail(reason);
    }
    if (this.#closed !== undefined) return;
    // A legacy client may do nothing but listen: its session is not to end because it has no call to make.
    if (this.#renewal.begun) {
      this.#retry = setTimeout(() => void (this.#stream === undefined && this.#open()), this.#wait);
      this.#wait = Math.min(this.#wait * 2, MOST_MS);
    }
    if (open.length > 0) void this.#inbox.write(open.map((id) => ({ kind: "bad", answers: id, failed: true, fault: reason })));
  }
}

/** What went wrong with the stream is no fault of its calls, and may not happen to the next: proxies reset streams that are long silent. */
function brokenBy(fault: Fault): Fault {
  if (fault.code !== "internal" && fault.code !== "application") return fault;
  return new Fault("unavailable", `the stream of the session broke: ${fault.message}`, { data: { reason: "cut-off" }, cause: fault });
}

function rethrow(error: unknown): never {
  throw brokenBy(toFault(error));
}

const done = Promise.resolve();
