import { Account, Fault, type Held, type Limits } from "../../core/index.js";
import type { Exchange, Outlet } from "./exchange.js";

/** Bytes that may wait for the client before the writer has to wait. */
const HIGH_WATER = 64 * 1024;

/** An exchange over a Fetch request; the response comes when the exchange is answered. */
export function fetchExchange(request: Request, limits?: Partial<Limits>): { exchange: Exchange; response: Promise<Response> } {
  const url = new URL(request.url);
  const account = new Account(limits);
  let answer: (response: Response) => void = () => {};
  const response = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  const listeners = new Set<() => void>();
  const goneOnce = (): void => {
    for (const listener of listeners) listener();
    listeners.clear();
  };
  request.signal.addEventListener("abort", goneOnce, { once: true });
  const exchange: Exchange = {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    account,
    secure: url.protocol === "https:",
    // A repeated Host is joined by a comma, which no host contains.
    hosts: [request.headers.get("host") ?? url.host],
    // Names with a colon belong to HTTP/2, and Fetch rejects them.
    header: (name) => (name.startsWith(":") ? undefined : (request.headers.get(name) ?? (name === "host" ? url.host : undefined))),
    headers: { host: url.host, ...Object.fromEntries(request.headers) },
    body: (maxBytes) => readBody(request, maxBytes, account.hold(exchange.principal)),
    reply: (status, headers, text) => answer(new Response(status === 204 || status === 202 ? null : (text ?? ""), { status, headers })),
    stream(status, headers) {
      const { readable, outlet } = piped(goneOnce);
      answer(new Response(readable, { status, headers }));
      return outlet;
    },
    onGone(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { exchange, response };
}

/** A body that is read while it is written. */
function piped(gone: () => void): { readable: ReadableStream<Uint8Array>; outlet: Outlet } {
  const encoder = new TextEncoder();
  let wake: (() => void) | undefined;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let over = false;
  const readable = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        const waiting = wake;
        wake = undefined;
        waiting?.();
      },
      cancel() {
        over = true;
        wake?.();
        gone();
      },
    },
    { highWaterMark: HIGH_WATER, size: (chunk) => chunk.byteLength },
  );
  const outlet: Outlet = {
    async write(...pieces) {
      if (over) return;
      for (const piece of pieces) controller?.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      if ((controller?.desiredSize ?? 1) > 0) return;
      // Several may wait: the call, and a keep-alive.
      await new Promise<void>((resolve) => {
        const before = wake;
        wake = () => {
          before?.();
          resolve();
        };
      });
    },
    get backlog() {
      return Math.max(0, HIGH_WATER - (controller?.desiredSize ?? HIGH_WATER));
    },
    end() {
      if (over) return;
      over = true;
      controller?.close();
    },
    abort() {
      if (over) return;
      over = true;
      controller?.error(new Fault("unavailable", "the server cut the stream"));
      wake?.();
    },
  };
  return { readable, outlet };
}

async function readBody(request: Request, maxBytes: number, held: Held): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw new Fault("overload", `the body is larger than ${maxBytes} bytes`, { data: { limit: "messageBytes", max: maxBytes } });
      const over = held.count(bytes);
      if (over !== undefined) throw over;
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    throw error instanceof Fault ? error : new Fault("parse", "the body is not UTF-8", { cause: error });
  } finally {
    held.free();
  }
}
