import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";
import { defaultLimits } from "../../src/core/limits.js";
import { defaultTimeouts } from "../../src/core/timeouts.js";

const addresses = [
  "tcp://127.0.0.1:0",
  "http://127.0.0.1:0/mcp",
  "sse+http://127.0.0.1:0/sse",
  "ws://127.0.0.1:0",
  "grpc://127.0.0.1:0",
  "proto+tcp://127.0.0.1:0",
];
const never = Number.POSITIVE_INFINITY;
const timeouts = Object.fromEntries(Object.keys(defaultTimeouts).map((name) => [name, never]));
const limits = Object.fromEntries(Object.keys(defaultLimits).flatMap((name) => (name.endsWith("Ms") ? [[name, never]] : [])));
const keepalive = { intervalMs: never, timeoutMs: never };

// Node warns of a time that a timer cannot wait, and lets it end after a millisecond.
const warnings: Error[] = [];
const onWarning = (warning: Error): number => warnings.push(warning);
process.on("warning", onWarning);
afterAll(() => void process.off("warning", onWarning));
afterEach(() => void warnings.splice(0));

describe("Infinity as a time-out is never", () => {
  for (const address of addresses) {
    it(`on ${address}`, async () => {
      const held: (() => void)[] = [];
      const server = createServer({ name: "s", version: "1" })
        .tool("hold", {}, () => new Promise<string>((resolve) => held.push(() => resolve("let go"))))
        .tools({ list: () => Array.from({ length: 3 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: "object" } })), call: () => "" });
      const listener = await serve(server, address, { ...timeouts, limits, keepalive, pageSize: 1 });
      const client = await connect(listener.address, { ...timeouts, limits, keepalive, timeout: never });
      // A list that waits between two pages.
      const tools = client.tools();
      await tools.next();
      const call = client.callTool("hold", {});
      while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const closed = listener.close();
      // The drain has all the time, and so has everything else.
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const letGo of held) letGo();
      expect(await call).toMatchObject({ content: [{ text: "let go" }] });
      await tools.return?.();
      await client.close();
      await closed;
      expect(warnings.map(({ message }) => message)).toEqual([]);
    });
  }
});
