import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import { type Account, accountOf, Fault, fixedLimits, type Held, type Limits, SMALL_BYTES } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { bodyText, bodyTooLarge } from "./body-text.js";
import { endUpload } from "./end-upload.js";
import type { Exchange, Outlet } from "./exchange.js";
import { hostsOf } from "./hosts.js";
import { claimRequest } from "./open-request.js";

type NodeRequest = IncomingMessage | Http2ServerRequest;
type NodeResponse = ServerResponse | Http2ServerResponse;

const written: Promise<void> = Promise.resolve();

export interface NodeExchangeOptions {
  /** Milliseconds for the body of the request; 60,000 unless given. */
  readonly bodyMs?: number | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** An exchange over Node's request and response, for HTTP/1.1 and HTTP/2. */
export function nodeExchange(request: NodeRequest, response: NodeResponse, options: NodeExchangeOptions = {}): Exchange {
  // HTTP/2 reports the end of its stream as an error of the request, even if this side ended it and the body was already read.
  if ("stream" in request) request.on("error", () => {});
  return new NodeExchange(request, response, options);
}

/** A class, because making an object with its own functions for each request takes as long as everything else before its body. */
class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;
  readonly #bodyMs: number;
  readonly #limits: Partial<Limits> | undefined;
  #client: string | undefined;
  #principal: string | undefined;

  constructor(request: NodeRequest, response: NodeResponse, { bodyMs = fixedLimits.bodyMs, limits }: NodeExchangeOptions) {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    this.method = request.method ?? "GET";
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.#request = request;
    this.#response = response;
    this.#bodyMs = bodyMs;
    this.#limits = limits;
  }

  get principal(): string | undefined {
    return this.#principal;
  }

  set principal(principal: string | undefined) {
    this.#principal = principal;
    const request = this.#request;
    if (principal !== undefined) claimRequest("stream" in request ? request.stream : request, principal);
  }

  get query(): URLSearchParams {
    return new URLSearchParams((this.#request.url ?? "/").slice(this.path.length));
  }

  get account(): Account {
    const request = this.#request;
    return accountOf("stream" in request ? (request.stream.session ?? request) : request.socket, this.#limits, this.remote);
  }

  get secure(): boolean {
    return (this.#request.socket as Partial<TLSSocket> | null)?.encrypted === true;
  }

  get hosts(): readonly string[] {
    const { headers, rawHeaders } = this.#request;
    return hostsOf(headers, rawHeaders);
  }

  get remote(): string | undefined {
    if (this.#client !== undefined) return this.#client;
    return (this.#request.socket as Partial<TLSSocket> | null)?.remoteAddress;
  }

  set remote(client: string | undefined) {
    this.#client = client;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get headers(): Record<string, string | readonly string[]> {
    return plainHeaders(this.#request);
  }

  body(maxBytes: number): Promise<string> {
    return readBody(this.#request, { maxBytes, ms: this.#bodyMs, held: () => this.account.hold(this.principal) });
  }

  reply(status: number, headers: Readonly<Record<string, string>>, text = ""): void {
    const request = this.#request;
    const response = this.#response;
    if (gone(response)) return;
    writeHead(response, status, { ...headers, "content-length": String(Buffer.byteLength(text)) });
    if (text.length > SMALL_BYTES) {
      const held = this.account.outgoing(this.principal);
      held.set(text.length);
      response.once("close", () => held.free());
    }
    end(response, text);
    endUpload(request);
  }

  stream(status: number, headers: Readonly<Record<string, string>>): Outlet {
    const response = this.#response;
    writeHead(response, status, headers);
    // A long-lived answer is useful from its first byte, so its headers are sent at once.
    if ("flushHeaders" in response) response.flushHeaders();
    return outlet(response, this.account.outgoing(this.principal));
  }

  onGone(listener: () => void): () => void {
    const response = this.#response;
    const closed = (): void => {
      if (!whole(response)) listener();
    };
    response.once("close", closed);
    const unhook = onQueuedGone(this.#request, response, closed);
    return () => {
      response.off("close", closed);
      unhook?.();
    };
  }
}

/** An answer that waits behind earlier requests of its connection has no socket yet, and is never told that the connection closed. */
export function onQueuedGone(request: NodeRequest, response: NodeResponse, gone: () => void): (() => void) | undefined {
  if ("stream" in request || response.socket !== null) return undefined;
  const { socket } = request;
  socket.setMaxListeners(0);
  socket.once("close", gone);
  return () => void socket.off("close", gone);
}

function plainHeaders(request: NodeRequest): Record<string, string | readonly string[]> {
  const plain: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined && !name.startsWith(":")) plain[name] = value;
  const authority = request.headers[":authority"];
  if (typeof authority === "string") plain["host"] ??= authority;
  return plain;
}

function gone(response: NodeResponse): boolean {
  return response.destroyed || response.writableEnded || ("stream" in response && response.stream?.destroyed !== false);
}

/** Whether the answer was written completely. For HTTP/2 only the stream says so. */
function whole(response: NodeResponse): boolean {
  return "stream" in response ? response.writableEnded && response.stream?.writableFinished === true : response.writableFinished;
}

// The two versions declare the same calls in types that cannot be joined.
function writeHead(response: NodeResponse, status: number, headers: Readonly<Record<string, string>>): void {
  if (!gone(response) && !response.headersSent) (response as ServerResponse).writeHead(status, headers);
}

function end(response: NodeResponse, text: string): void {
  (response as ServerResponse).end(text);
}

function outlet(response: NodeResponse, held: Held): Outlet {
  /** One promise for all who wait for room: a stream may carry many calls. */
  let room: Promise<void> | undefined;
  return {
    write(...pieces) {
      let more = true;
      if (!gone(response)) for (const piece of pieces) more = (response as ServerResponse).write(piece);
      if (more) return written;
      held.set(response.destroyed ? 0 : response.writableLength);
      room ??= new Promise((resolve) => {
        const done = (): void => {
          room = undefined;
          held.free();
          response.off("drain", done);
          response.off("close", done);
          resolve();
        };
        response.on("drain", done);
        response.on("close", done);
      });
      return room;
    },
    get backlog() {
      return response.writableLength;
    },
    end() {
      if (!gone(response)) response.end();
    },
    abort() {
      // With an error, because otherwise Node lets the end of a stream look like the end of a whole answer.
      if ("stream" in response) response.stream?.destroy(new Fault("unavailable", "the answer was cut"));
      else response.destroy();
    },
  };
}

interface BodyOptions {
  readonly maxBytes: number;
  readonly ms: number;
  /** Called for a body that does not come in one piece. */
  held(): Held;
}

function readBody(request: NodeRequest, { maxBytes, ms, held: hold }: BodyOptions): Promise<string> {
  // A framework around this handler may have read the body already.
  const { body } = request as { readonly body?: unknown };
  if (body !== undefined && request.readableEnded) return Promise.resolve(typeof body === "string" ? body : JSON.stringify(body));
  // A small body has usually come with its headers, so there is nothing to wait for.
  const there = request.readableLength;
  const declared = Number(request.headers["content-length"]);
  if (there > 0 && there <= maxBytes && !("stream" in request) && declared === there) {
    const whole = request.read() as Buffer;
    // Only the end is still to come.
    request.resume();
    return bodyText(whole);
  }
  if (declared > maxBytes) {
    // The body is read and dropped, so that the client can read the answer.
    request.resume();
    return Promise.reject(bodyTooLarge(maxBytes));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const held = hold();
    const timer = setTimeout(
      () => settle(() => reject(new Fault("deadline", `the body did not arrive within ${ms} ms`, { data: { limit: "bodyMs", max: ms } }))),
      timerMs(ms),
    );
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      held.free();
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onClose);
      request.off("error", onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      const over = bytes > maxBytes ? bodyTooLarge(maxBytes) : held.count(bytes);
      if (over === undefined) return void chunks.push(chunk);
      // The rest is read and dropped, so that the client can read the answer.
      settle(() => reject(over));
      request.resume();
    };
    const onEnd = (): void => settle(() => resolve(bodyText(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))));
    const onClose = (): void => settle(() => reject(new Fault("unavailable", "the client closed the request before its end")));
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onClose);
    request.on("error", onClose);
  });
}
