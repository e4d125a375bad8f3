import { expect, it } from "vitest";
import { connect, serve } from "../../src/api/index.js";
import { createServer } from "../../src/core/index.js";

it("a source that never waits does not keep a deadline from passing", async () => {
  const until = Date.now() + 4000;
  const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, function* () {
    while (Date.now() < until) yield new Uint8Array(64 * 1024);
  } as never);
  await using _listener = await serve(server, "memory:turns");
  await using client = await connect("memory:turns");
  const read = async (): Promise<void> => {
    for await (const _ of client.readChunks("x:", { timeout: 50 }));
  };
  await expect(read()).rejects.toMatchObject({ code: "deadline" });
  expect(Date.now()).toBeLessThan(until);
});
