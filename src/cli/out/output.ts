import type { Writable } from "node:stream";
import { Fault } from "../../api/index.js";
import { forPerson } from "./clean.js";

/** A stream that is written at the pace of its reader. */
export interface Output {
  /**
   * Makes text safe for a terminal; bytes are not changed. Resolves when there is room for more. Rejects once the reader has gone, or if
   * `signal` aborts while it waits.
   */
  write(data: string | Uint8Array): Promise<void>;
  release(): void;
}

export interface OutputOptions {
  readonly signal: AbortSignal;
  /** Whether it is a terminal. A program gets text unchanged. */
  readonly tty: boolean;
  /** Called once with the reason why no more can be written. `EPIPE`: nobody reads any more. */
  readonly onGone: (code: string | undefined) => void;
}

const room: Promise<void> = Promise.resolve();

export function output(stream: Writable, { signal, tty, onGone }: OutputOptions): Output {
  let gone = false;
  const failed = (error: NodeJS.ErrnoException): void => {
    if (gone) return;
    gone = true;
    onGone(error.code);
  };
  stream.on("error", failed);
  return {
    write(data) {
      if (gone) return Promise.reject(new Fault("cancelled", "nobody reads the output any more"));
      if (stream.write(tty && typeof data === "string" ? forPerson(data) : data)) return room;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          stream.off("drain", drained);
          stream.off("error", broke);
          signal.removeEventListener("abort", broke);
        };
        const drained = (): void => {
          leave();
          resolve();
        };
        const broke = (): void => {
          leave();
          reject(new Fault("cancelled", "the output was given up"));
        };
        stream.once("drain", drained);
        stream.once("error", broke);
        signal.addEventListener("abort", broke, { once: true });
      });
    },
    release: () => void stream.off("error", failed),
  };
}
