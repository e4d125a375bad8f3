import { Fault } from "../fault.js";
import { Cutter, type ResourceChunk } from "./chunks.js";
import type { Engine } from "./engine.js";
import type { CallOptions } from "./options.js";
import { leavable, type Stream } from "./stream.js";

export interface ReadOptions extends CallOptions {
  /** Bytes to skip at the start. In text, a code point that begins before the offset is skipped as a whole. */
  readonly offset?: number | undefined;
  /** The most bytes that one part may have. */
  readonly chunkSize?: number | undefined;
}

export function readChunks(engine: Engine, uri: string, options: ReadOptions): Stream<ResourceChunk> {
  const { offset = 0, chunkSize } = options;
  const params = { uri };
  const range = chunkSize === undefined ? { offset } : { offset, chunkSize };
  const exchange = engine.exchange("resources/read", params, { ...options, range });
  async function* chunks(): AsyncGenerator<ResourceChunk, undefined, undefined> {
    if (!(offset >= 0)) throw new Fault("invalid-params", "a read cannot start before the resource does");
    if (chunkSize !== undefined && !(chunkSize >= 1)) throw new Fault("invalid-params", "a part has at least one byte");
    const cutter = new Cutter(uri, offset, chunkSize);
    for (;;) {
      const step = await exchange.next();
      if (step.done === true) return;
      const reply = step.value;
      const whole = cutter.whole(reply);
      if (whole !== undefined) {
        yield whole;
        continue;
      }
      if (reply.kind === "result") engine.complete(reply.value);
      if (!engine.hear(reply, "resources/read", params, options)) for (const part of cutter.cut(reply)) yield part;
      if (reply.kind === "result") return;
    }
  }
  return leavable(chunks(), () => void exchange.return());
}
