import type { IncomingHttpHeaders } from "node:http2";
import { Duplex, type Readable, type Writable } from "node:stream";
import { Fault, toFault } from "../../core/index.js";
import { WINDOW } from "../http2/bounds.js";
import { type Http2ClientSession, type Http2ClientStream, http2Client } from "../http2/index.js";
import type { HttpClient, HttpSendOptions } from "./request.js";
import type { Sent } from "./sent.js";
import { STREAM_FRAME_BYTES, strayText } from "./stray-text.js";
import { StreamAnswer } from "./stream-answer.js";

/** Bytes of one answer that may be in flight. */
const ANSWER_BYTES = 512 * 1024;
/** Requests that may be cancelled at once, and the milliseconds until one more may. */
const RESETS = 900;
const RESET_MS = 40;

export interface StreamClientOptions {
  /** Finds out why the connection was lost, if more is known: a child that has exited. Never rejects. */
  explain(fault: Fault): Promise<Fault>;
  /** Called once when the connection is lost, with the reason. */
  onLost(fault: Fault): void;
}

/** An HTTP client whose only connection is a pair of pipes. It speaks HTTP/2 from the start. */
export function streamClient(readable: Readable, writable: Writable, options: StreamClientOptions): HttpClient {
  let lost: Promise<Fault> | undefined;
  const onLost = (error: Error | undefined): void => {
    const fault =
      error === undefined
        ? new Fault("unavailable", "the connection to the server was lost", { data: { reason: "connection-lost" } })
        : toFault(error);
    lost ??= options.explain(fault);
    void lost.then((why) => options.onLost(why));
  };
  const session: Http2ClientSession = http2Client(
    (read) =>
      pipes(
        readable,
        writable,
        strayText(read, (fault) => session.destroy(fault)),
      ),
    {
      window: WINDOW,
      near: true,
      frameBytes: STREAM_FRAME_BYTES,
      leastWindow: ANSWER_BYTES,
      onReady() {},
      onGoaway() {},
      onLost,
      onClose() {},
    },
  );
  const reset = paced();
  const why = (error: Error | undefined): Promise<Fault> => lost ?? Promise.resolve(cut(error));
  return {
    async send(method, url, sending) {
      if (session.closed) throw await why(undefined);
      return answered(session, headersOf(method, url, sending), sending, { why, reset });
    },
    close: () => session.close(),
  };
}

/**
 * Lets a burst of resets through, then a limited rate. Servers on `node:http2` take more for an attack and would close the only connection;
 * Node 20 has no option to change that.
 */
function paced(): (act: () => void) => void {
  const waiting: (() => void)[] = [];
  let left = RESETS;
  let timer: NodeJS.Timeout | undefined;
  const more = (): void => {
    left++;
    if (waiting.length > 0) left--;
    waiting.shift()?.();
    if (left < RESETS) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (act) => {
    timer ??= setInterval(more, RESET_MS).unref();
    if (left === 0) return void waiting.push(act);
    left--;
    act();
  };
}

function cut(cause: Error | undefined): Fault {
  return new Fault("unavailable", "the server closed the stream", { cause, data: { reason: "closed" } });
}

function headersOf(method: string, url: URL, { headers, body }: HttpSendOptions): string[] {
  const list = [":method", method, ":scheme", "http", ":authority", url.host, ":path", `${url.pathname}${url.search}`];
  for (const [name, value] of Object.entries(headers)) list.push(name.toLowerCase(), value);
  if (body !== undefined) list.push("content-length", String(Buffer.byteLength(body)));
  return list;
}

/** Sends a request and waits for the headers of its answer. */
function answered(
  session: Http2ClientSession,
  headers: readonly string[],
  { body: sending, cancel, onSent }: HttpSendOptions,
  { why, reset }: { why(error: Error | undefined): Promise<Fault>; reset(act: () => void): void },
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    let answer: StreamAnswer | undefined;
    let ended = false;
    let unhook: (() => void) | undefined;
    const leave = (): void => {
      reject(new Fault("cancelled", "the request was given up"));
      answer?.end(new Fault("cancelled", "the request was given up"));
      reset(() => stream.destroy());
    };
    const stream: Http2ClientStream = session.request(
      headers,
      {
        onResponse(head: IncomingHttpHeaders) {
          answer = new StreamAnswer(Number(head[":status"]), head, { pause: () => stream.pause(), resume: () => stream.resume(), leave });
          resolve(answer);
        },
        // Node reads pipes into new memory each time, so the bytes need no copy.
        onData: (bytes) => answer?.push(bytes),
        onTrailers() {},
        onEnd() {
          ended = true;
          answer?.end();
        },
        onClose(_code, error) {
          unhook?.();
          if (ended) return;
          void why(error).then((fault) => {
            reject(fault);
            answer?.end(fault);
          });
        },
      },
      ANSWER_BYTES,
    );
    if (sending !== undefined) stream.write(Buffer.from(sending), onSent);
    stream.end();
    unhook = cancel?.on(leave);
    if (cancel?.fired === true) leave();
  });
}

/** Two pipes as a duplex. Incoming bytes go straight to `read`. */
function pipes(readable: Readable, writable: Writable, read: (bytes: Uint8Array) => void): Duplex {
  const duplex = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => void writable.write(chunk, done),
    writev: (chunks, done) => void writable.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final(done) {
      writable.end();
      done();
    },
    destroy(error, done) {
      writable.end();
      // A server that is stuck in a write could not see that its input has ended.
      readable.off("data", read).resume();
      done(error);
    },
  });
  readable.on("data", read);
  const end = (): void => void (duplex.destroyed || duplex.push(null));
  readable.once("end", end).once("close", end);
  writable.on("error", (error) => duplex.destroy(error));
  // The end event comes only if the stream is read.
  return duplex.resume();
}
