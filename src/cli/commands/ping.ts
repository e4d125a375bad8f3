import type { Input } from "../args/input.js";
import { type WithClient, withClient } from "../session/session.js";

export function runPing(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async ({ client, signal, out }) => {
    const count = input.options.number("count") ?? 1;
    for (let seq = 1; seq <= count; seq++) {
      const began = performance.now();
      await client.ping({ signal });
      const ms = Math.round((performance.now() - began) * 1000) / 1000;
      await out.write(input.options.has("json") ? `${JSON.stringify({ seq, ms })}\n` : `answer ${seq} in ${ms.toFixed(1)} ms\n`);
    }
    return 0;
  });
}
