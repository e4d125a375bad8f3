import { Fault, type McpClient } from "../core/index.js";
import { equal, eventually, ok, rejection } from "./assert.js";
import { type Check, check } from "./check.js";
import { reportOf } from "./service.js";

const report = async (client: McpClient) => reportOf(await client.callTool("report"));
const cancelled = (client: McpClient, key: string): Promise<void> =>
  eventually(async () => (await report(client)).cancelled.includes(key), `the handler ${key} hears of its cancellation`);
const started = (client: McpClient, key: string): Promise<void> =>
  eventually(async () => (await report(client)).started.includes(key), `the handler ${key} starts`);

export const flowChecks: readonly Check[] = [
  check("aborting a call cancels its handler", async (client) => {
    const abort = new AbortController();
    const call = rejection(client.callTool("wait", { key: "abort" }, { signal: abort.signal }), "the aborted call");
    await started(client, "abort");
    abort.abort();
    equal((await call).code, "cancelled", "the code");
    await cancelled(client, "abort");
  }),
  check("leaving a stream cancels its handler, also in the middle of next()", async (client) => {
    const stream = client.streamTool("wait", { key: "leave" });
    const pending = stream.next();
    await started(client, "leave");
    await stream.return();
    equal((await pending).done, true, "the pending next()");
    await cancelled(client, "leave");
  }),
  check("a deadline ends the call and cancels its handler", async (client) => {
    const error = await rejection(client.callTool("wait", { key: "late" }, { timeout: 50 }), "the late call");
    equal(error.code, "deadline", "the code");
    await cancelled(client, "late");
  }),
  check("cancelling races with answering: one outcome each", async (client) => {
    const outcomes = await Promise.all(
      Array.from({ length: 150 }, async (_, at) => {
        const abort = new AbortController();
        const call = client.callTool("echo", { at }, { signal: abort.signal }).then(
          (result) => equal(result.structuredContent, { at }, "the echo"),
          (error: Fault) => equal(error.code, "cancelled", "the code"),
        );
        for (let turns = at % 7; turns > 0; turns--) await Promise.resolve();
        if (at % 3 === 0) await new Promise((resolve) => setTimeout(resolve, at % 5));
        abort.abort();
        return call;
      }),
    );
    equal(outcomes.length, 150, "the outcomes");
    equal((await client.callTool("echo", { after: 1 })).structuredContent, { after: 1 }, "a call afterwards");
  }),
  {
    name: "400 concurrent calls of two clients with the same ids keep apart",
    async run(subject) {
      const clients = await Promise.all([subject.open(), subject.open()]);
      try {
        await Promise.all(
          clients.flatMap((client, who) =>
            Array.from({ length: 200 }, async (_, at) => {
              const result = await client.callTool("echo", { who, at });
              equal(result.structuredContent, { who, at }, `call ${at} of client ${who}`);
            }),
          ),
        );
      } finally {
        await Promise.all(clients.map((client) => client.close()));
      }
    },
  },
  check("a slow reader slows its own producer and nobody else", async (client, hops) => {
    // Half of it is more than the sockets of any wire hold.
    const n = 5_000 * hops;
    const stream = client.streamTool("flood", { n, size: 4_000, key: "slow" });
    await stream.next();
    for (let at = 0; at < 100; at++) equal((await client.callTool("echo", { at })).structuredContent, { at }, "a neighbour's call");
    const { flooded } = await report(client);
    ok((flooded["slow"] ?? n) < n / 2, `the producer ran ahead: ${flooded["slow"]} of ${n} made for a reader that took one`);
    let next = 2;
    for await (const event of stream) {
      if (event.kind === "progress") equal(event.progress.progress, next++, "the order");
    }
    equal(next, n + 1, "what arrived");
  }),
  check("closing ends every open call with one fault", async (client) => {
    const wait = rejection(client.callTool("wait", { key: "close" }), "the open call");
    const stream = client.streamTool("wait", { key: "close-stream" });
    const next = rejection(stream.next(), "the open stream");
    const listen = client.listen({ toolsListChanged: true });
    await listen.next();
    const change = rejection(listen.next(), "the open subscription");
    await started(client, "close");
    await client.close();
    for (const error of await Promise.all([wait, next, change])) ok(error instanceof Fault, "no Fault");
    ok((await rejection(client.callTool("echo"), "a call after close")) instanceof Fault, "no Fault after close");
    equal(await client.closed, undefined, "the reason");
  }),
];
