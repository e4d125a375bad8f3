import { STATUS_CODES } from "node:http";
import type { TLSSocket } from "node:tls";
import { type Account, Fault, fixedTimeouts, type Held, SMALL_BYTES } from "../../core/index.js";
import { bodyText, bodyTooLarge } from "../http/body-text.js";
import type { Exchange, Outlet } from "../http/exchange.js";
import type { PlainConnection } from "./plain-connection.js";
import type { PlainHead } from "./plain-head.js";

const written: Promise<void> = Promise.resolve();
const notAscii = /[^\t\x20-\x7e]/;

/** What an exchange uses of its connection. */
export type ExchangeHost = Pick<PlainConnection, "socket" | "account" | "closing" | "room" | "answered">;

/** An exchange directly on a socket: a request that has arrived whole, and its answer. */
export class PlainExchange implements Exchange {
  readonly method = "POST";
  readonly path: string;
  readonly #host: ExchangeHost;
  readonly #head: PlainHead;
  readonly #body: Buffer;
  /** Counts the request while it is open. */
  readonly #held: Held;
  #state: "open" | "streaming" | "ended" = "open";
  #gone: Set<() => void> | (() => void) | undefined;
  #client: string | undefined;
  #principal: string | undefined;

  constructor(host: ExchangeHost, head: PlainHead, body: Buffer, held: Held) {
    const mark = head.target.indexOf("?");
    this.path = mark < 0 ? head.target : head.target.slice(0, mark);
    this.#host = host;
    this.#head = head;
    this.#body = body;
    this.#held = held;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#head.target.slice(this.path.length));
  }

  get secure(): boolean {
    return (this.#host.socket as Partial<TLSSocket>).encrypted === true;
  }

  get hosts(): readonly string[] {
    return [this.#head.headers["host"] as string];
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

  get remote(): string | undefined {
    return this.#client ?? this.#host.socket.remoteAddress;
  }

  set remote(client: string | undefined) {
    this.#client = client;
  }

  header(name: string): string | undefined {
    return this.#head.headers[name];
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#head.headers;
  }

  body(maxBytes: number): Promise<string> {
    return this.#body.length > maxBytes ? Promise.reject(bodyTooLarge(maxBytes)) : bodyText(this.#body);
  }

  reply(status: number, headers: Readonly<Record<string, string>>, text = ""): void {
    if (this.#state !== "open") return;
    const { socket, account, closing } = this.#host;
    const length = Buffer.byteLength(text);
    const head = `${headOf(status, headers, closing)}content-length: ${length}\r\n\r\n`;
    this.#state = "ended";
    if (length > SMALL_BYTES) {
      const held = account.outgoing(this.#principal);
      held.set(length);
      socket.write(head + text, () => held.free());
    } else socket.write(head + text, length === text.length ? "latin1" : "utf8");
    this.#finish();
  }

  stream(status: number, headers: Readonly<Record<string, string>>): Outlet {
    const host = this.#host;
    const { socket } = host;
    if (this.#state === "open") {
      const head = headOf(status, headers, host.closing);
      this.#state = "streaming";
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`, "latin1");
    }
    const held = host.account.outgoing(this.#principal);
    return {
      write: (...pieces) => {
        if (this.#state !== "streaming" || socket.destroyed || writeChunk(socket, pieces)) return written;
        held.set(socket.writableLength);
        return host.room().then(() => held.free());
      },
      get backlog() {
        return socket.writableLength;
      },
      end: () => {
        if (this.#state !== "streaming") return;
        this.#state = "ended";
        socket.write("0\r\n\r\n", "latin1");
        this.#finish();
      },
      abort: () => {
        if (this.#state === "streaming") socket.destroy();
      },
    };
  }

  onGone(listener: () => void): () => void {
    if (this.#gone === undefined) this.#gone = listener;
    else if (typeof this.#gone === "function") this.#gone = new Set([this.#gone, listener]);
    else this.#gone.add(listener);
    return () => {
      if (this.#gone === listener) this.#gone = undefined;
      else if (typeof this.#gone === "object") this.#gone.delete(listener);
    };
  }

  /** Called when the connection has closed. */
  lost(): void {
    const gone = this.#gone;
    this.#state = "ended";
    this.#gone = undefined;
    this.#held.free();
    if (typeof gone === "function") gone();
    else if (gone !== undefined) for (const listener of gone) listener();
  }

  /** Called when the answer is written. */
  #finish(): void {
    this.#held.free();
    this.#host.answered();
  }
}

const kept = `connection: keep-alive\r\nkeep-alive: timeout=${fixedTimeouts.idleConnectionMs / 1000}\r\n`;

function headOf(status: number, headers: Readonly<Record<string, string>>, closing: boolean): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (notAscii.test(value)) throw new Fault("internal", `the header ${name} has characters that a header cannot have`);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}date: ${httpDate()}\r\n${closing ? "connection: close\r\n" : kept}`;
}

/** Writes the pieces as one chunk of a chunked body. Returns whether there is room for more. */
function writeChunk(socket: ExchangeHost["socket"], pieces: readonly (string | Uint8Array)[]): boolean {
  let bytes = 0;
  let text = "";
  for (const piece of pieces) {
    bytes += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
    if (typeof piece === "string") text += piece;
  }
  // An empty chunk would end the body.
  if (bytes === 0) return true;
  const size = `${bytes.toString(16)}\r\n`;
  if (pieces.every((piece) => typeof piece === "string")) return socket.write(`${size}${text}\r\n`);
  socket.cork();
  socket.write(size, "latin1");
  for (const piece of pieces) socket.write(piece);
  const room = socket.write("\r\n", "latin1");
  socket.uncork();
  return room;
}

let second = 0;
let date = "";

/** The current date, formatted once a second. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1000).toUTCString();
  }
  return date;
}
