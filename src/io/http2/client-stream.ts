import { headerFields } from "./fields.js";
import { PROTOCOL_ERROR, STREAM_CLOSED } from "./frames.js";
import { Http2Stream, type StreamSession } from "./stream.js";
import type { Http2ClientStream, StreamEvents } from "./types.js";

const pseudo: readonly string[] = [":status"];

/** One request, as its session and its caller see it. */
export class ClientStream extends Http2Stream implements Http2ClientStream {
  readonly headers: readonly string[];
  readonly #events: StreamEvents;
  #answered = false;

  constructor(
    headers: readonly string[],
    events: StreamEvents,
    { carrier, window }: { readonly carrier: StreamSession; readonly window: number },
  ) {
    super(carrier, window);
    this.headers = headers;
    this.#events = events;
  }

  override count(bytes: number): void {
    if (!this.over && !this.#answered) return this.fault(PROTOCOL_ERROR, "the server sent data before its headers");
    super.count(bytes);
  }

  headersCame(raw: readonly string[], end: boolean): void {
    if (this.over) return this.fault(STREAM_CLOSED, "the server sent headers after the end of a stream");
    const headers = headerFields(raw, pseudo);
    if (headers === undefined) return this.fault(PROTOCOL_ERROR, "the server sent headers that HTTP/2 does not allow");
    const status = headers[":status"] as string | undefined;
    if (this.#answered) {
      if (!end || status !== undefined) return this.fault(PROTOCOL_ERROR, "the server sent headers twice");
      this.#events.onTrailers(headers, raw);
    } else {
      if (status === undefined || !/^[1-9]\d\d$/.test(status)) return this.fault(PROTOCOL_ERROR, "the server's answer has no HTTP status");
      if (status.startsWith("1")) {
        if (end) this.fault(PROTOCOL_ERROR, "the server ended with an answer that is to be followed by another");
        return;
      }
      this.#answered = true;
      this.#events.onResponse(headers, raw);
    }
    if (end) this.finish();
  }

  protected override onData(bytes: Uint8Array): void {
    this.#events.onData(bytes);
  }

  protected override onEnd(): void {
    this.#events.onEnd();
  }

  protected override onClose(code: number, error: Error | undefined, passed: boolean): void {
    this.#events.onClose(code, error, passed);
  }
}
