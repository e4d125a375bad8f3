import type { Readable, Writable } from "node:stream";
import { type Account, accountOf, Fault, fixedLimits, type Limits, limitsOf, refusedStatus } from "../../core/index.js";
import type { Exchange } from "../http/exchange.js";
import { countRequest } from "../http/open-request.js";
import { CONCURRENT, WINDOW } from "./bounds.js";
import { broken } from "./broken.js";
import { Http2Connection } from "./connection.js";
import { Http2Exchange, type Http2ExchangeHost, type RequestHead } from "./exchange.js";
import { headerFields } from "./fields.js";
import {
  END_STREAM,
  GOAWAY,
  INITIAL_WINDOW_SIZE,
  MAX_CONCURRENT_STREAMS,
  MAX_HEADER_LIST_SIZE,
  NO_ERROR,
  numbers,
  PREFACE,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  RST_STREAM,
} from "./frames.js";
import type { Http2Stream } from "./stream.js";

export interface Http2ServerOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** Milliseconds for the body of a request; 60,000 unless given. */
  readonly bodyMs?: number | undefined;
  /** Answers a request. */
  take(exchange: Exchange): void;
  /** The client sends no more, but still reads. */
  onEnd(): void;
  /** The connection is over. */
  onClose(): void;
}

/** The server's end of one HTTP/2 connection. */
export interface Http2Server {
  /** Accepts no more requests, and ends the output after the last answer. */
  close(): void;
  /** Ends the connection now. */
  destroy(): void;
}

/** How much longer than `headerBytes` a list of headers may be before it ends the connection and not only its request. */
const SLACK = 4;
const pseudo: readonly string[] = [":method", ":scheme", ":authority", ":path"];

/** Anywire's own HTTP/2 server, for the only connection of a process: two pipes. It has no limit for resets and idle time. */
export function http2Server(input: Readable, output: Writable, options: Http2ServerOptions): Http2Server {
  return new ServerSession(input, output, options);
}

class ServerSession extends Http2Connection<Http2Exchange, Writable> implements Http2Server, Http2ExchangeHost {
  readonly serves = true;
  readonly account: Account;
  readonly bodyMs: number;
  readonly messageBytes: number;
  readonly #input: Readable;
  readonly #options: Http2ServerOptions;
  /** Bytes of the preface that have come. */
  #greeted = 0;
  #closing = false;
  #destroyed = false;

  constructor(input: Readable, output: Writable, options: Http2ServerOptions) {
    const { headerBytes, messageBytes }: Limits = limitsOf(options.limits);
    super(
      (read) => {
        input.on("data", read);
        return output;
      },
      { window: WINDOW, near: true, listBytes: SLACK * headerBytes },
    );
    this.account = accountOf(this, options.limits);
    this.bodyMs = options.bodyMs ?? fixedLimits.bodyMs;
    this.messageBytes = messageBytes;
    this.#input = input;
    this.#options = options;
    const destroy = (): void => this.destroy();
    // For good: an error that nobody listens for would end the process.
    for (const stream of [input, output]) stream.on("error", destroy);
    output.once("close", destroy);
    input.once("end", this.#onEnd).once("close", this.#onEnd);
    this.greet([
      [MAX_CONCURRENT_STREAMS, CONCURRENT],
      [INITIAL_WINDOW_SIZE, WINDOW],
      [MAX_HEADER_LIST_SIZE, headerBytes],
    ]);
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.sender.frame(numbers(GOAWAY, 0, Math.max(this.nextId - 2, 0), NO_ERROR));
    this.#idle();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    // A client that is stuck in a write could not see the end.
    this.#input.resume();
    this.socket.end();
    const streams = [...this.streams.values()];
    this.streams.clear();
    for (const stream of streams) stream.shut(NO_ERROR, undefined);
    this.#options.onClose();
  }

  // Called by its streams.

  respond(stream: Http2Exchange, headers: readonly string[], end: boolean): void {
    this.sender.headers(stream.id, this.encoder.encode(headers), end ? END_STREAM : 0);
    if (end) stream.sentEnd();
  }

  forget(stream: Http2Stream, code: number | undefined): void {
    if (this.remove(stream, code)) this.#idle();
  }

  // Called for frames of the client.

  reply(bytes: Uint8Array): void {
    this.sender.frame(bytes);
  }

  headers(id: number, raw: readonly string[], end: boolean): void {
    if (id < this.nextId) return this.streams.get(id)?.headersCame(raw, end);
    if (this.#closing) return;
    this.nextId = id + 2;
    const head = headOf(raw);
    if (head === undefined) return this.#refuse(id, PROTOCOL_ERROR);
    if (this.streams.size >= CONCURRENT) return this.#refuse(id, REFUSED_STREAM);
    const held = countRequest(this, raw, this.account, this.#options.limits);
    const exchange = new Http2Exchange(this, head, held instanceof Fault ? this.account.hold() : held);
    exchange.id = id;
    exchange.room = this.firstRoom;
    this.streams.set(id, exchange);
    if (end) exchange.dataEnd(true);
    if (held instanceof Fault) exchange.reply(refusedStatus(held), { "content-type": "text/plain" }, `${held.message}\n`);
    else this.#options.take(exchange);
  }

  settled(): void {}

  acknowledged(): void {}

  pong(): void {}

  goaway(): void {
    this.close();
  }

  protected override read(bytes: Uint8Array): void {
    let at = this.#destroyed ? bytes.length : 0;
    while (this.#greeted < PREFACE.length && at < bytes.length) {
      if (bytes[at++] === PREFACE.charCodeAt(this.#greeted++)) continue;
      return this.fail(broken(PROTOCOL_ERROR, "the client does not begin with the preface of HTTP/2"));
    }
    super.read(at === 0 ? bytes : bytes.subarray(at));
    // Answers would pile up here.
    if (this.sender.clogged) this.#input.pause();
  }

  protected override drained(): void {
    if (this.#input.isPaused() && !this.sender.clogged) this.#input.resume();
  }

  #refuse(id: number, code: number): void {
    this.sender.frame(numbers(RST_STREAM, id, code));
  }

  /** Requests that are not complete will never be. */
  readonly #onEnd = (): void => {
    if (this.#destroyed) return;
    for (const stream of [...this.streams.values()]) if (!stream.over) stream.reset(NO_ERROR);
    this.#options.onEnd();
  };

  #idle(): void {
    if (!this.#closing || this.#destroyed || this.streams.size > 0) return;
    this.sender.end();
    this.socket.once("finish", () => this.destroy());
  }
}

function headOf(raw: readonly string[]): RequestHead | undefined {
  const fields = headerFields(raw, pseudo);
  if (fields === undefined) return undefined;
  const { ":method": method, ":scheme": scheme, ":path": target, ":authority": authority, ...headers } = fields as Record<string, string>;
  if (method === undefined || scheme === undefined || target === undefined || target === "") return undefined;
  if (authority !== undefined) headers["host"] ??= authority;
  return { method, target, headers };
}
