import { Fault } from "../../api/index.js";
import { timerMs } from "../../stream/index.js";
import type { Input } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { type WithClient, withClient } from "../session/session.js";

export function runWatch(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async ({ client, signal, out, style }) => {
    const { options, positionals } = input;
    let left = options.number("count") ?? Number.POSITIVE_INFINITY;
    const limit = limited(signal, options.number("timeout"));
    try {
      if (left <= 0) return 0;
      for await (const change of client.watch(positionals, { signal: limit.signal, includeInitial: options.has("initial") })) {
        const time = style.dim(new Date().toTimeString().slice(0, 8));
        await out.write(
          options.has("json") ? `${JSON.stringify(change)}\n` : `${time} ${change.change.padEnd(8)} ${cleanLine(change.uri)}\n`,
        );
        if (--left <= 0) return 0;
      }
      throw new Fault("unavailable", "the server ended the subscription", { data: { reason: "ended" } });
    } finally {
      limit.release();
    }
  });
}

/** A watch never ends by itself, so the timeout applies to all of it. */
function limited(signal: AbortSignal, ms: number | undefined): { readonly signal: AbortSignal; release(): void } {
  if (ms === undefined) return { signal, release: () => {} };
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new Fault("deadline", `the watch ended after ${ms} ms`)), timerMs(ms));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}
