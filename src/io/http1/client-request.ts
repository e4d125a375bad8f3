import type { Socket } from "node:net";
import { Fault } from "../../core/index.js";
import { cut, requestFault, type Sent } from "../http/sent.js";
import type { OpenRequest } from "../http/silence.js";
import { type AnswerStream, StreamAnswer } from "../http/stream-answer.js";
import type { AnswerHead } from "./answer-head.js";
import type { ClientConnection, RequestOnConnection, RequestText } from "./client-connection.js";
import type { WaitingRequest } from "./connections.js";

export interface ClientRequestOptions extends RequestText {
  /** What faults call the server. */
  readonly server: string;
  resolve(sent: Sent): void;
  reject(fault: Fault): void;
  /** The answer has shown a sign of life. */
  beat(): void;
  /** Called once, when the answer is complete or will not come. */
  closed(): void;
  /** Called before, if it is given up while it waits for a connection. */
  forget(): void;
  /** Closes the connections of the same client that have no request. */
  dropIdle(): void;
}

/** A request of HTTP/1.1 from its wait for a connection to the end of its answer. */
export class ClientRequest implements WaitingRequest, RequestOnConnection, AnswerStream, OpenRequest {
  readonly #options: ClientRequestOptions;
  #connection: ClientConnection | undefined;
  #answer: StreamAnswer | undefined;
  #over = false;

  constructor(options: ClientRequestOptions) {
    this.#options = options;
  }

  get socket(): Socket | undefined {
    return this.#connection?.socket;
  }

  get answered(): boolean {
    return this.#answer !== undefined;
  }

  get unread(): number {
    return this.#answer?.unread ?? 0;
  }

  onConnection(connection: ClientConnection): void {
    this.#connection = connection;
    connection.send(this, this.#options);
  }

  onHead({ status, headers }: AnswerHead): void {
    this.#answer = new StreamAnswer(status, headers, this);
    this.#options.resolve(this.#answer);
  }

  onBody(bytes: Uint8Array): void {
    this.#answer?.push(bytes);
  }

  onEnd(): void {
    this.#close();
    this.#answer?.end();
  }

  lost(error: Error | undefined): void {
    if (this.#answer !== undefined) return this.#fail(cut(error));
    const why = error ?? Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
    return this.#fail(requestFault(why, this.#options.server));
  }

  pause(): void {
    this.#connection?.socket.pause();
  }

  resume(): void {
    this.#connection?.socket.resume();
  }

  beat(): void {
    this.#options.beat();
  }

  leave(): void {
    this.destroy(new Fault("unavailable", "the request was given up", { data: { reason: "closed" } }));
  }

  destroy(fault: Fault): void {
    if (this.#over) return;
    if (this.#connection === undefined) this.#options.forget();
    else this.#connection.leave();
    this.#fail(fault);
  }

  dropIdle(): void {
    this.#options.dropIdle();
  }

  #fail(fault: Fault): void {
    this.#close();
    this.#options.reject(fault);
    this.#answer?.end(fault);
  }

  #close(): void {
    this.#over = true;
    this.#connection = undefined;
    this.#options.closed();
  }
}
