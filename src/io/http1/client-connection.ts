import type { Socket } from "node:net";
import type { AnswerHead } from "./answer-head.js";
import { type AnswerListener, AnswerReader } from "./answer-reader.js";

/** A request on a connection. */
export interface RequestOnConnection extends AnswerListener {
  /** The connection broke before the answer was complete. */
  lost(error: Error | undefined): void;
}

/** What is sent of a request. */
export interface RequestText {
  /** The text up to the body. */
  readonly head: string;
  readonly body: string;
  readonly bodyBytes: number;
  /** Called when all of it was handed to the system. */
  readonly onSent: (() => void) | undefined;
}

/** Where connections come from and go back to. */
export interface ConnectionOwner {
  /** The connection can carry another request, for `keepMs` if the server says so. */
  freed(connection: ClientConnection, keepMs: number | undefined): void;
}

/** A connection to a server of HTTP/1.1. It carries one request at a time. */
export class ClientConnection implements AnswerListener {
  readonly socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new AnswerReader(this);
  #request: RequestOnConnection | undefined;
  #head: AnswerHead | undefined;
  #error: Error | undefined;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket;
    this.#owner = owner;
    socket.on("data", this.#onData);
    socket.on("end", () => this.#reader.end());
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("close", () => {
      const request = this.#request;
      this.#request = undefined;
      request?.lost(this.#error);
    });
  }

  /** Sends a request. Its text is written in one piece where it can be. */
  send(request: RequestOnConnection, { head, body, bodyBytes, onSent }: RequestText): void {
    this.#request = request;
    const { socket } = this;
    if (bodyBytes === body.length) {
      socket.write(head + body, "latin1", onSent);
      return;
    }
    socket.cork();
    socket.write(head, "latin1");
    socket.write(body, "utf8", onSent);
    socket.uncork();
  }

  /** Gives the request up. Nothing more is heard of it, and the connection is closed. */
  leave(): void {
    this.#request = undefined;
    this.socket.destroy();
  }

  onHead(head: AnswerHead): void {
    this.#head = head;
    this.#request?.onHead(head);
  }

  onBody(bytes: Uint8Array): void {
    this.#request?.onBody(bytes);
  }

  onEnd(): void {
    const request = this.#request;
    this.#request = undefined;
    request?.onEnd();
  }

  readonly #onData = (bytes: Buffer): void => {
    // Nobody asked for it, and the next request must not get it.
    if (this.#request === undefined) return void this.socket.destroy();
    let all: boolean;
    try {
      all = this.#reader.push(bytes);
    } catch (error) {
      return void this.socket.destroy(error as Error);
    }
    if (this.#request !== undefined) return undefined;
    const { socket } = this;
    const head = this.#head;
    // A server that answers before it has read the request may not read the rest of it.
    if (head?.keeps !== true || !all || !socket.writable || socket.writableLength > 0) return void socket.destroy();
    socket.resume();
    // Some servers end a connection right behind an answer and do not say so. That is seen within this turn of the event loop.
    if (head.keepMs === undefined) setImmediate(this.#free);
    else this.#free();
    return undefined;
  };

  readonly #free = (): void => {
    if (this.socket.writable) this.#owner.freed(this, this.#head?.keepMs);
  };
}
