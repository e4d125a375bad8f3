import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";
import { Fault, fixedTimeouts } from "../../../core/index.js";
import { SESSION_MEMORY_MB } from "../bounds.js";
import { HEADER_BYTES } from "../hpack/limits.js";
import type { Http2ClientOptions, Http2ClientSession, Http2ClientStream, StreamEvents } from "../types.js";
import { NodeStream, type StreamHost } from "./stream.js";

/** HTTP/2 on a socket by `node:http2`. */
export function nodeHttp2Client(open: () => Duplex, options: Http2ClientOptions): Http2ClientSession {
  return new NodeSession(open(), options);
}

class NodeSession implements Http2ClientSession, StreamHost {
  /** The last stream that the server processed, once it has sent GOAWAY. */
  last: number | undefined;
  lost: Error | undefined;
  readonly #options: Http2ClientOptions;
  readonly socket: Duplex;
  readonly #session: ClientHttp2Session;
  readonly #streams = new Set<NodeStream>();
  #ready = false;
  #closed = false;
  #destroyed = false;
  #ended = false;
  #over = false;
  #linger: NodeJS.Timeout | undefined;

  constructor(socket: Duplex, options: Http2ClientOptions) {
    this.#options = options;
    this.socket = socket;
    // Registered before Node's own listeners, because Node then closes all streams as if they were cancelled.
    socket.on("error", (error) => this.#lose(error));
    socket.once("end", () => this.#lose(this.#linger === undefined ? gone("the server closed the connection") : undefined));
    socket.once("close", () => this.#lose(socket.errored ?? undefined));
    if (socket.closed) process.nextTick(() => this.#lose(socket.errored ?? undefined));
    this.#session = connect("http://localhost", {
      createConnection: () => socket,
      // Node cannot widen the window of a single stream later.
      settings: { enablePush: false, initialWindowSize: options.leastWindow ?? options.window, maxHeaderListSize: HEADER_BYTES },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    this.#session.once("connect", () => this.#session.setLocalWindowSize(options.window));
    this.#session.on("remoteSettings", this.#onSettings);
    this.#session.on("goaway", this.#onGoaway);
    this.#session.on("error", (error) => this.#lose(error));
    this.#session.once("close", this.#onClose);
  }

  get concurrent(): number {
    return this.#session.destroyed ? 0 : (this.#session.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY);
  }

  get closed(): boolean {
    return this.#closed || this.#session.closed || this.#session.destroyed;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  request(headers: readonly string[], events: StreamEvents): Http2ClientStream {
    if (this.closed) throw gone("the connection takes no more calls");
    const node: ClientHttp2Stream = this.#session.request(headersOf(headers), { endStream: false });
    const stream = new NodeStream(node, events, this);
    this.#streams.add(stream);
    return stream;
  }

  ping(done: (error: Error | null) => void): void {
    if (this.#destroyed || this.#session.destroyed) return done(this.lost ?? gone("the connection was closed"));
    this.#session.ping((error) => done(error));
  }

  close(): void {
    this.#closed = true;
    this.#idle();
  }

  destroy(error?: Error): void {
    this.#lose(error);
  }

  forget(stream: NodeStream): void {
    this.#streams.delete(stream);
    this.#idle();
    this.#finish();
  }

  readonly #onSettings = (): void => {
    if (!this.#ready) {
      this.#ready = true;
      this.#options.onReady();
    }
    this.#options.onSettings?.();
  };

  readonly #onGoaway = (code: number, last: number, words?: NodeJS.ArrayBufferView): void => {
    this.#closed = true;
    this.last = last;
    const text = words === undefined ? "" : Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("latin1");
    if (!this.#destroyed) this.#options.onGoaway(code, text);
    for (const stream of [...this.#streams]) stream.refuse(last);
    this.#idle();
  };

  /** The connection was lost or closed. Its streams are told so, once, instead of what Node makes of it. */
  #lose(error: Error | undefined): void {
    if (this.#destroyed) return;
    this.#destroyed = this.#closed = true;
    this.lost = error;
    this.#options.onLost(error);
    const reason = error ?? gone("the connection was closed");
    for (const stream of [...this.#streams]) stream.lose(reason);
    this.#session.destroy();
    this.socket.destroy();
  }

  readonly #onClose = (): void => {
    this.#ended = true;
    this.#lose(undefined);
    clearTimeout(this.#linger);
    this.#finish();
  };

  /** Closes the connection when nothing is left to do. */
  #idle(): void {
    if (!this.#closed || this.#destroyed || this.#linger !== undefined || this.#streams.size > 0) return;
    this.#session.close();
    this.#linger = setTimeout(() => this.destroy(), fixedTimeouts.lingerMs);
  }

  #finish(): void {
    if (!this.#ended || this.#over || this.#streams.size > 0) return;
    this.#over = true;
    this.#options.onClose();
  }
}

/** A list of alternating names and values, as Node takes it. */
function headersOf(list: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? "";
    const value = list[at + 1] ?? "";
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return headers;
}

function gone(message: string): Fault {
  return new Fault("unavailable", message, { data: { reason: "closed" } });
}
