/** A call as any of the clients makes it. */
export interface Call {
  send(message: Uint8Array): void;
  done(): void;
  cancel(): void;
  /** Ends without a throw: how the call ended is in `end`. */
  readonly messages: AsyncIterable<Uint8Array>;
  readonly end: Promise<End>;
}

export interface End {
  readonly code: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** `-bin` values as base64 without padding. */
  readonly trailers: Readonly<Record<string, readonly string[]>>;
}

export interface CallOptions {
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs?: number;
  readonly gzip?: boolean;
}

export type Kind = "unary" | "client" | "server" | "bidi";

/** The methods that every server of these tests has. */
export const methods: Readonly<Record<string, Kind>> = {
  Same: "unary", // the request; `x-say` and `x-say-bin` come back in headers and trailers
  Fail: "unary", // FAILED_PRECONDITION with a message and a trailer
  Join: "client", // all requests joined
  Count: "server", // as many messages as the request says, each its number
  Chat: "bidi", // each request
  Hang: "bidi", // never answers
};

export const HARD_MESSAGE = "50% of naïve\r\ncafés";

export interface Client {
  readonly name: string;
  call(method: string, options?: CallOptions): Call;
  close(): Promise<void>;
}

export interface Server {
  readonly name: string;
  readonly port: number;
  /** Calls of Hang that began, and that were told of their cancellation. */
  readonly hanging: { began: number; cancelled: number };
  close(): Promise<void>;
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (message: Uint8Array): string => Buffer.from(message).toString();

/** Hands over, in order, what is pushed. */
export class Queue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as T;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
