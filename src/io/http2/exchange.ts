import { type Account, Fault, fixedTimeouts, type Held, SMALL_BYTES } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { bodyText, bodyTooLarge } from "../http/body-text.js";
import type { Exchange, Outlet } from "../http/exchange.js";
import { INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR } from "./frames.js";
import { Http2Stream, type StreamSession } from "./stream.js";

/** The head of a request, checked. */
export interface RequestHead {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What an exchange uses of its session. */
export interface Http2ExchangeHost extends StreamSession {
  readonly account: Account;
  /** Bytes that a client may send ahead on a stream. */
  readonly window: number;
  /** Milliseconds for the body of a request. */
  readonly bodyMs: number;
  /** Bytes of the largest body. */
  readonly messageBytes: number;
  /** Sends the headers of an answer. `end`: there is nothing else. */
  respond(stream: Http2Exchange, headers: readonly string[], end: boolean): void;
}

const written: Promise<void> = Promise.resolve();
/** Bytes of an answer that may wait before its writer does. */
const WAITING = 16 * 1024;

/** An exchange that is a stream of HTTP/2: a request, its body as far as it has arrived, and the answer. */
export class Http2Exchange extends Http2Stream implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly hosts: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly #target: string;
  readonly #host: Http2ExchangeHost;
  /** Counts the request and its body. */
  readonly #held: Held;
  readonly #headBytes: number;
  #principal: string | undefined;
  #body: Buffer | undefined;
  #received = 0;
  /** Why there is no body. */
  #fault: Fault | undefined;
  #closed = false;
  #settle: (() => void) | undefined;
  #state: "open" | "streaming" | "answered" = "open";
  #out: Held | undefined;
  #room: { readonly promise: Promise<void>; go(): void } | undefined;
  /** Ends the upload of a request that was answered before its end. */
  #late: NodeJS.Timeout | undefined;
  readonly #gone = new Set<() => void>();

  constructor(host: Http2ExchangeHost, { method, target, headers }: RequestHead, held: Held) {
    super(host, host.window);
    const mark = target.indexOf("?");
    this.method = method;
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.hosts = [headers["host"] ?? ""];
    this.headers = headers;
    this.#target = target;
    this.#host = host;
    this.#held = held;
    this.#headBytes = held.bytes;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#target.slice(this.path.length));
  }

  get account(): Account {
    return this.#host.account;
  }

  get principal(): string | undefined {
    return this.#principal;
  }

  set principal(principal: string | undefined) {
    this.#principal = principal;
    if (principal !== undefined) this.#held.claim(principal);
  }

  header(name: string): string | undefined {
    return this.headers[name];
  }

  body(maxBytes: number): Promise<string> {
    if (Number(this.headers["content-length"]) > maxBytes) this.#refuse(bodyTooLarge(maxBytes));
    if (this.over || this.#closed || this.#fault !== undefined) return this.#whole();
    const ms = this.#host.bodyMs;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#refuse(new Fault("deadline", `the body did not arrive within ${ms} ms`, { data: { limit: "bodyMs", max: ms } }));
      }, timerMs(ms));
      this.#settle = () => {
        clearTimeout(timer);
        this.#settle = undefined;
        resolve(this.#whole());
      };
    });
  }

  reply(status: number, headers: Readonly<Record<string, string>>, text = ""): void {
    if (this.#state !== "open" || !this.writable) return;
    const bytes = Buffer.from(text);
    this.#answered();
    this.#respond(status, { ...headers, "content-length": String(bytes.length) }, bytes.length === 0 || this.method === "HEAD");
    if (!this.writable) return;
    if (bytes.length > SMALL_BYTES) (this.#out = this.account.outgoing(this.#principal)).set(bytes.length);
    this.end(bytes);
  }

  stream(status: number, headers: Readonly<Record<string, string>>): Outlet {
    if (this.#state === "open" && this.writable) {
      this.#respond(status, headers, false);
      this.#state = "streaming";
    }
    const held = (this.#out ??= this.account.outgoing(this.#principal));
    const length = (): number => this.writableLength;
    return {
      write: (...pieces) => {
        for (const piece of pieces) this.write(typeof piece === "string" ? Buffer.from(piece) : piece);
        if (this.writableLength <= WAITING) return written;
        held.set(this.writableLength);
        return this.#wait();
      },
      get backlog() {
        return length();
      },
      end: () => {
        this.#answered();
        this.end();
      },
      abort: () => this.reset(INTERNAL_ERROR),
    };
  }

  onGone(listener: () => void): () => void {
    this.#gone.add(listener);
    return () => void this.#gone.delete(listener);
  }

  override tell(): void {
    super.tell();
    if (this.writableLength <= WAITING) this.#go();
  }

  override sentEnd(): void {
    super.sentEnd();
    // The client has a moment to read the answer, as in endUpload().
    if (!this.over) this.#late = setTimeout(() => this.reset(NO_ERROR), fixedTimeouts.lastAnswersMs).unref();
  }

  /** Trailers, which nobody reads. */
  override headersCame(_raw: readonly string[], end: boolean): void {
    if (end && !this.over) this.finish();
    else this.fault(PROTOCOL_ERROR, "the server sent headers twice");
  }

  /** Copies, because a byte of data would keep all that was read with it. */
  protected override onData(bytes: Uint8Array): void {
    const before = this.#received;
    this.#received += bytes.length;
    if (this.#fault !== undefined || this.#state === "answered") return;
    const { messageBytes } = this.#host;
    if (this.#received > messageBytes) return this.#refuse(bodyTooLarge(messageBytes));
    const have = this.#body?.length ?? 0;
    if (this.#received > have) {
      const more = Buffer.allocUnsafe(have === 0 ? this.#received : Math.max(this.#received, 2 * have));
      if (this.#body !== undefined) more.set(this.#body.subarray(0, before));
      this.#body = more;
      const over = this.#held.count(this.#headBytes + more.length);
      if (over !== undefined) return this.#refuse(over);
    }
    this.#body?.set(bytes, before);
  }

  protected override onEnd(): void {
    const length = this.headers["content-length"];
    if (length !== undefined && Number(length) !== this.#received) this.fault(PROTOCOL_ERROR, "the server sent a body of another length");
    this.#settle?.();
  }

  protected override onClose(): void {
    this.#closed = true;
    this.#body = undefined;
    clearTimeout(this.#late);
    this.#settle?.();
    this.#go();
    this.#held.free();
    this.#out?.free();
    const gone = this.ended ? [] : [...this.#gone];
    this.#gone.clear();
    for (const listener of gone) listener();
  }

  #respond(status: number, headers: Readonly<Record<string, string>>, end: boolean): void {
    const list = [":status", String(status)];
    for (const name in headers) list.push(name, headers[name] as string);
    this.#host.respond(this, list, end);
  }

  #answered(): void {
    this.#state = "answered";
    this.#forgetBody();
  }

  #wait(): Promise<void> {
    if (this.#room === undefined) {
      let go = (): void => {};
      const promise = new Promise<void>((resolve) => {
        go = resolve;
      });
      this.#room = { promise, go };
    }
    return this.#room.promise;
  }

  #go(): void {
    if (this.#room === undefined) return;
    this.#out?.free();
    this.#room.go();
    this.#room = undefined;
  }

  /** There is no body to be had. The rest is read and dropped, so that the client can read the answer. */
  #refuse(fault: Fault): void {
    this.#fault ??= fault;
    this.#forgetBody();
    this.#settle?.();
  }

  #whole(): Promise<string> {
    // Not made before, because creating an error is slow.
    if (this.#closed) this.#fault ??= new Fault("unavailable", "the client closed the request before its end");
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    const text = bodyText(this.#body?.subarray(0, this.#received) ?? Buffer.alloc(0));
    this.#forgetBody();
    return text;
  }

  #forgetBody(): void {
    if (this.#body === undefined) return;
    this.#body = undefined;
    this.#held.set(this.#headBytes);
  }
}
