import type { Socket } from "node:net";
import { type Account, accountOf, defaultLimits, Fault, fixedTimeouts, type Held, type Limits, refusedStatus } from "../../core/index.js";
import type { Exchange } from "../http/exchange.js";
import { countRequest } from "../http/open-request.js";
import { PlainExchange } from "./plain-exchange.js";
import { BODY_FOLLOWS, PlainReader } from "./plain-head.js";

/** Bytes that are kept of what arrives while a request is being answered. */
const AHEAD_BYTES = 64 * 1024;
/** Milliseconds within which a body has to follow its head. */
const FOLLOW_MS = 1_000;
/** How often an idle connection is checked before its time is up. */
const LOOKS = 4;

export interface PlainOptions {
  /** Milliseconds for the head of a request. */
  readonly headersMs: number;
  readonly limits?: Partial<Limits> | undefined;
  /** Returns the handler of a request for that target; undefined if none takes exchanges there. */
  take(target: string): ((exchange: Exchange) => void) | undefined;
  /** Takes over a connection for good, with the bytes that were not answered. */
  others(socket: Socket, bytes: Buffer): void;
}

/**
 * HTTP/1.1 connections with plain requests: a POST that arrives whole, or in two pieces, one at a time. Anything else goes, with its
 * connection, to Node's server, which handles all of HTTP/1.1 and takes three times as long for each request.
 */
export class PlainConnections {
  readonly #options: PlainOptions;
  readonly #open = new Set<PlainConnection>();
  readonly #timer: ReturnType<typeof setInterval>;
  #closing = false;

  constructor(options: PlainOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      for (const connection of this.#open) connection.look();
    }, fixedTimeouts.idleConnectionMs / LOOKS);
    this.#timer.unref();
  }

  /** Takes a paused connection and its first bytes. */
  take(socket: Socket, first: Buffer): void {
    const connection = new PlainConnection(socket, this.#options, (open) => this.#open.delete(open));
    this.#open.add(connection);
    if (this.#closing) connection.close();
    connection.begin(first);
  }

  /** Ends idle connections now, and the others after their last answer. */
  close(): void {
    this.#closing = true;
    clearInterval(this.#timer);
    for (const connection of this.#open) connection.close();
  }
}

export class PlainConnection {
  readonly socket: Socket;
  readonly account: Account;
  readonly #options: PlainOptions;
  readonly #left: (connection: PlainConnection) => void;
  readonly #reader: PlainReader;
  /** The request that is being answered. */
  #exchange: PlainExchange | undefined;
  /** A head whose body has not arrived yet. It waits once. */
  #begun: { readonly bytes: Buffer; readonly held: Held; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  /** What has arrived meanwhile. */
  #ahead: Buffer | undefined;
  #closing = false;
  /** How often it was found idle. */
  #looks = 0;
  #room: { readonly promise: Promise<void>; go(): void } | undefined;

  constructor(socket: Socket, options: PlainOptions, left: (connection: PlainConnection) => void) {
    this.socket = socket;
    this.account = accountOf(socket, options.limits, socket.remoteAddress);
    this.#options = options;
    this.#left = left;
    this.#reader = new PlainReader(options.limits?.headerBytes ?? defaultLimits.headerBytes);
  }

  /** Whether the current answer is the last. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether no request has begun. */
  get #idle(): boolean {
    return this.#exchange === undefined && this.#begun === undefined;
  }

  begin(first: Buffer): void {
    this.socket.on("data", this.#onData).on("drain", this.#onDrain).on("close", this.#onClose);
    this.#take(first);
    this.socket.resume();
  }

  /** Resolves when what was written has been sent, or cannot be any more. */
  room(): Promise<void> {
    if (this.#room === undefined) {
      let go = (): void => {};
      const promise = new Promise<void>((resolve) => {
        go = resolve;
      });
      this.#room = { promise, go };
    }
    return this.#room.promise;
  }

  /** The answer is written. The next request is read when the client has taken it. */
  answered(): void {
    this.#exchange = undefined;
    this.#looks = 0;
    if (this.#closing) return void this.socket.end();
    if (!this.socket.writableNeedDrain) this.#next();
  }

  /** Closes the connection if it has been idle for too long. */
  look(): void {
    if (this.#idle && ++this.#looks > LOOKS) this.socket.end();
  }

  close(): void {
    this.#closing = true;
    if (this.#idle) this.socket.end();
  }

  readonly #onData = (bytes: Buffer): void => {
    const begun = this.#begun;
    if (begun !== undefined) return this.#take(Buffer.concat([begun.bytes, bytes]));
    if (this.#exchange === undefined && !this.socket.writableNeedDrain) return this.#take(bytes);
    this.#ahead = this.#ahead === undefined ? bytes : Buffer.concat([this.#ahead, bytes]);
    if (this.#ahead.length >= AHEAD_BYTES) this.socket.pause();
  };

  readonly #onDrain = (): void => {
    this.#room?.go();
    this.#room = undefined;
    if (this.#exchange === undefined && !this.#closing) this.#next();
  };

  readonly #onClose = (): void => {
    this.#left(this);
    this.#ahead = undefined;
    this.#forgetBegun();
    this.#exchange?.lost();
    this.#exchange = undefined;
    this.#room?.go();
    this.#room = undefined;
  };

  /** If the client does not wait for its answers, Node's server takes the connection over. */
  #next(): void {
    const ahead = this.#ahead;
    if (ahead !== undefined) this.#leave(ahead);
  }

  #take(bytes: Buffer): void {
    const request = this.#reader.read(bytes);
    if (request === BODY_FOLLOWS) return this.#wait(bytes);
    this.#forgetBegun();
    const answer = request === undefined ? undefined : this.#options.take(request.head.target);
    if (request === undefined || answer === undefined) return this.#leave(bytes);
    const { head, body } = request;
    const held = countRequest(this, head.raw, this.account, this.#options.limits);
    if (held instanceof Fault) return this.#refuse(held);
    this.#exchange = new PlainExchange(this, head, body, held);
    answer(this.#exchange);
  }

  /** A slow request is left to Node's server, which has the timeouts for it. */
  #wait(bytes: Buffer): void {
    const held = this.account.hold();
    if (this.#begun !== undefined || held.count(bytes.length) !== undefined) {
      held.free();
      return this.#leave(bytes);
    }
    const timer = setTimeout(() => this.#leave(bytes), Math.min(FOLLOW_MS, this.#options.headersMs));
    this.#begun = { bytes, held, timer };
  }

  #forgetBegun(): void {
    if (this.#begun === undefined) return;
    clearTimeout(this.#begun.timer);
    this.#begun.held.free();
    this.#begun = undefined;
  }

  #refuse(fault: Fault): void {
    const exchange = new PlainExchange(this, { target: "/", headers: {}, raw: [], length: 0 }, Buffer.alloc(0), this.account.hold());
    exchange.reply(refusedStatus(fault), { "content-type": "text/plain" }, `${fault.message}\n`);
  }

  #leave(bytes: Buffer): void {
    this.#left(this);
    this.#forgetBegun();
    this.#ahead = undefined;
    this.socket.off("data", this.#onData).off("drain", this.#onDrain).off("close", this.#onClose).pause();
    this.#options.others(this.socket, bytes);
  }
}
