import type { Id, LinkMessage, OutgoingMessage } from "../../../codec/index.js";
import { decodeToClient, encodeToServer } from "../../../codec/mcpv1/index.js";
import { Fault, type Limits, limitsOf, toFault } from "../../../core/index.js";
import { hasRoom, type Link, type LinkTraits, sharedStream } from "../../../era/index.js";
import type { Channel, ClientCall, Metadata } from "../../../io/index.js";
import type { IterationStep } from "../../../stream/index.js";
import { header, SERVICE } from "../names.js";
import { fitting } from "./fitting.js";

type MessagesStep = IterationStep<readonly LinkMessage[]>;
type Frames = AsyncIterator<readonly Uint8Array[], undefined>;

export interface SessionLink extends Link {
  /** The id of the stream, once the server has sent it. */
  readonly stream: string | undefined;
  /** The same, but waits for it and for everything written to the stream to be sent. Undefined if there is no stream. */
  session(): Promise<string | undefined>;
}

export interface SessionLinkOptions {
  readonly metadata: Metadata;
  readonly limits?: Partial<Limits> | undefined;
  /** The method of an open call: an answer does not name its own. */
  readonly methodOf: (call: Id) => string | undefined;
}

/** A link whose messages all travel on one `Session` stream, which opens with the first message. */
export function mcpSessionLink(channel: Channel, options: SessionLinkOptions): SessionLink {
  return new StreamLink(channel, options);
}

/** All calls share one stream, and answers come in parts. */
const traits: LinkTraits = { ownStream: () => false, inParts: () => true, bytes: false };

class StreamLink implements SessionLink {
  readonly traits = traits;
  readonly part = sharedStream.part;
  readonly pace = sharedStream.pace;
  readonly incoming: AsyncIterable<readonly LinkMessage[]>;
  readonly #channel: Channel;
  readonly #metadata: Metadata;
  readonly #limits: Limits;
  readonly #methodOf: SessionLinkOptions["methodOf"];
  #stream: ClientCall | undefined;
  #frames: Frames | undefined;
  #opened: (frames: Frames) => void = () => {};
  stream: string | undefined;
  #closed: Fault | undefined;

  constructor(channel: Channel, { metadata, limits, methodOf }: SessionLinkOptions) {
    this.#channel = channel;
    this.#metadata = { ...metadata, [header.twins]: "1" };
    this.#limits = limitsOf(limits);
    this.#methodOf = methodOf;
    const opened = new Promise<Frames>((resolve) => {
      this.#opened = resolve;
    });
    const next = (): Promise<MessagesStep> =>
      (this.#frames?.next() ?? opened.then((frames) => frames.next())).then(this.#decode, this.#fail);
    this.incoming = { [Symbol.asyncIterator]: () => ({ next }) };
  }

  get backlog(): number {
    return this.#stream?.backlog ?? 0;
  }

  send(message: OutgoingMessage): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    try {
      const bytes = fitting(encodeToServer(message, { twin: true }), this.#limits);
      const stream = this.#stream ?? this.#open();
      return stream.send(bytes)?.catch(rethrow) ?? hasRoom;
    } catch (error) {
      return Promise.reject(toFault(error));
    }
  }

  async session(): Promise<string | undefined> {
    const stream = this.#stream;
    const id = (await stream?.headers)?.[header.session];
    // What was written to the stream goes first: an RPC that overtook it would find a session that has not begun.
    if (stream !== undefined && stream.backlog > 0) await new Promise<void>((resolve) => process.nextTick(resolve));
    return typeof id === "string" ? id : undefined;
  }

  async close(reason?: Fault): Promise<void> {
    this.#closed ??= reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
    this.#stream?.done();
    this.#stream?.cancel();
  }

  #open(): ClientCall {
    const stream = this.#channel.call(`${SERVICE}Session`, { metadata: this.#metadata });
    this.#stream = stream;
    stream.headers.then(
      (headers) => {
        const name = headers[header.session];
        if (typeof name === "string") this.stream = name;
      },
      () => {},
    );
    this.#frames = stream.messages[Symbol.asyncIterator]();
    this.#opened(this.#frames);
    return stream;
  }

  readonly #decode = (step: IteratorResult<readonly Uint8Array[], undefined>): MessagesStep => {
    if (step.done !== true) return { done: false, value: this.#messages(step.value) };
    this.#closed ??= new Fault("unavailable", "the server closed the stream", { data: { reason: "closed" } });
    return step;
  };

  #messages(frames: readonly Uint8Array[]): readonly LinkMessage[] {
    const messages: LinkMessage[] = [];
    for (const frame of frames) {
      const decoded = decodeToClient(frame, this.#methodOf, this.#limits);
      if (Array.isArray(decoded)) messages.push(...decoded);
      else messages.push(decoded as LinkMessage);
    }
    return messages;
  }

  readonly #fail = (error: unknown): never => {
    this.#closed ??= brokenBy(toFault(error));
    throw this.#closed;
  };
}

/** A broken stream is not the fault of its calls, and the next one may work: proxies reset streams that are silent for long. */
function brokenBy(fault: Fault): Fault {
  if (fault.code !== "internal" && fault.code !== "application") return fault;
  return new Fault("unavailable", `the stream of the session broke: ${fault.message}`, { data: { reason: "cut-off" }, cause: fault });
}

function rethrow(error: unknown): never {
  throw brokenBy(toFault(error));
}
