import { Duplex } from "node:stream";
import { settings } from "../../../src/io/http2/frames.js";
import { HpackEncoder } from "../../../src/io/http2/hpack/index.js";
import { http2Client } from "../../../src/io/http2/session.js";
import type { Http2ClientSession, StreamEvents } from "../../../src/io/http2/types.js";

export const WINDOW = 64 * 1024;
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A socket whose other end is the test. */
export class Line extends Duplex {
  readonly #written: Buffer[] = [];
  /** Takes nothing while it is held. */
  #held: (() => void) | undefined;
  hold = false;

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#written.push(chunk);
    if (this.hold) this.#held = done;
    else done();
  }

  go(): void {
    this.hold = false;
    this.#held?.();
  }

  /** The frames that came, without the preface. */
  frames(): { type: number; flags: number; id: number; payload: Buffer }[] {
    const all = [];
    const written = Buffer.concat(this.#written);
    for (let at = 24; at + 9 <= written.length; ) {
      const end = at + 9 + written.readUIntBE(at, 3);
      const [type = 0, flags = 0] = written.subarray(at + 3);
      all.push({ type, flags, id: written.readUInt32BE(at + 5), payload: written.subarray(at + 9, end) });
      at = end;
    }
    return all;
  }
}

export interface Opened {
  readonly line: Line;
  readonly session: Http2ClientSession;
  readonly log: string[];
  say(...frames: readonly Uint8Array[]): void;
}

/** A session on a line, and a log of what it hears. */
export function open(line: Line = new Line(), window = WINDOW): Opened {
  const log: string[] = [];
  let read: (bytes: Uint8Array) => void = () => {};
  const session = http2Client(
    (take) => {
      read = take;
      return line.on("data", take);
    },
    {
      window,
      onReady: () => log.push("ready"),
      onGoaway: (code) => log.push(`goaway ${code}`),
      onLost: (error) => log.push(`lost ${error?.message ?? ""}`.trim()),
      onClose: () => log.push("close"),
    },
  );
  return { line, session, log, say: (...frames) => read(Buffer.concat(frames)) };
}

/** Logs what comes on a stream, data put together. */
export function listen(name: string, log: string[]): StreamEvents {
  return {
    onResponse: (headers) => log.push(`${name} ${String(headers[":status"])}`),
    onData: (bytes) => {
      const before = log.at(-1) ?? "";
      if (before.startsWith(`${name} data `)) log[log.length - 1] = before + Buffer.from(bytes).toString("hex");
      else log.push(`${name} data ${Buffer.from(bytes).toString("hex")}`);
    },
    onTrailers: (headers) => log.push(`${name} trailers ${Object.keys(headers).join()}`),
    onEnd: () => log.push(`${name} end`),
    onClose: (code, error) => log.push(`${name} close ${code}${error === undefined ? "" : ` ${error.message}`}`),
  };
}

export const request = [":method", "POST", ":path", "/"];
export const encoder = (): ((list: readonly string[]) => Uint8Array) => {
  const hpack = new HpackEncoder();
  return (list) => Uint8Array.from(hpack.encode(list));
};
export const hello = settings([]);
