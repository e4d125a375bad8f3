import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { CANCEL, NO_ERROR, REFUSED_STREAM } from "../frames.js";
import type { Http2ClientStream, StreamEvents } from "../types.js";

/** What a stream needs from its session. */
export interface StreamHost {
  readonly last: number | undefined;
  readonly lost: Error | undefined;
  /** The stream is over. */
  forget(stream: NodeStream): void;
}

type Fields = readonly [headers: IncomingHttpHeaders, raw: readonly string[]];

/** One request on `node:http2`. */
export class NodeStream implements Http2ClientStream {
  readonly #node: ClientHttp2Stream;
  readonly #events: StreamEvents;
  readonly #host: StreamHost;
  #trailers: Fields | undefined;
  #ended = false;
  #closed = false;

  constructor(node: ClientHttp2Stream, events: StreamEvents, host: StreamHost) {
    this.#node = node;
    this.#events = events;
    this.#host = host;
    node.on("response", this.#onResponse as never);
    node.on("trailers", this.#onTrailers as never);
    node.on("data", this.#onData);
    node.once("end", this.#onEnd);
    // The code of its end says what went wrong.
    node.on("error", () => {});
    node.once("close", () => this.#shut(node.rstCode ?? NO_ERROR, undefined, false));
  }

  get writable(): boolean {
    return !this.#closed && this.#node.writable;
  }

  get writableLength(): number {
    return this.#closed ? 0 : this.#node.writableLength;
  }

  write(bytes: Uint8Array, done?: () => void): void {
    if (!this.writable) return;
    this.#node.write(bytes, (error) => {
      if (error === undefined || error === null) done?.();
    });
  }

  end(bytes?: Uint8Array): void {
    if (!this.writable) return;
    if (bytes === undefined) this.#node.end();
    else this.#node.end(bytes);
  }

  /** Node has one window size for all streams. */
  widen(): void {}

  pause(): void {
    if (this.#trailers === undefined) this.#node.pause();
  }

  resume(): void {
    this.#node.resume();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#drop();
    this.#shut(CANCEL, undefined, false);
  }

  /** The connection was lost. */
  lose(error: Error): void {
    const unsent = this.#node.pending || this.#isAfter(this.#host.last);
    this.#shut(unsent ? REFUSED_STREAM : NO_ERROR, error, false);
  }

  /** The server leaves, and has processed no stream after `last`. */
  refuse(last: number): void {
    if (!this.#isAfter(last)) return;
    this.#drop();
    this.#shut(REFUSED_STREAM, undefined, last > 0);
  }

  #isAfter(last: number | undefined): boolean {
    return last !== undefined && (this.#node.id ?? Number.POSITIVE_INFINITY) > last;
  }

  #drop(): void {
    this.#node.close(CANCEL);
    this.#node.destroy();
  }

  readonly #onResponse = (headers: IncomingHttpHeaders, _flags: number, raw: readonly string[] = flat(headers)): void => {
    if (!this.#closed) this.#events.onResponse(headers, raw);
  };

  readonly #onData = (bytes: Uint8Array): void => {
    if (!this.#closed) this.#events.onData(bytes);
  };

  /** Everything has arrived, but data before the trailers may be unread. Reading it now takes no more memory. */
  readonly #onTrailers = (headers: IncomingHttpHeaders, _flags: number, raw: readonly string[] = flat(headers)): void => {
    this.#trailers = [headers, raw];
    if (this.#ended) this.#tell();
    else this.#node.resume();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#tell();
    if (!this.#closed) this.#events.onEnd();
  };

  #tell(): void {
    const trailers = this.#trailers;
    if (trailers !== undefined && !this.#closed) this.#events.onTrailers(...trailers);
  }

  #shut(code: number, error: Error | undefined, passed: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.onClose(code, error, passed);
    this.#host.forget(this);
  }
}

function flat(headers: IncomingHttpHeaders): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((each) => [name, String(each)]));
}
