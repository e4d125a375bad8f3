import { expect, it, vi } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";

it("a legacy session that only listens begins anew after a restart, with its subscriptions", async () => {
  const make = () => createServer({ name: "s", version: "1" }).resource({ uri: "test://a", name: "a" }, () => "a");
  const first = await serve(make(), "grpc://127.0.0.1:0", { drainMs: 50 });
  const client = await connect(first.address, { era: "legacy" });
  const changes: unknown[] = [];
  void (async () => {
    for await (const change of client.watch("test://a", { includeInitial: true })) changes.push(change);
  })().catch((fault) => changes.push(fault));
  await vi.waitFor(() => expect(changes).toEqual([{ uri: "test://a", change: "initial" }]));
  await first.close();
  const server = make();
  const second = await serve(server, first.address, { drainMs: 50 });
  await vi.waitFor(() => expect(changes[1]).toEqual({ uri: "test://a", change: "modified" }), { timeout: 20_000 });
  const before = changes.length;
  await vi.waitFor(
    () => {
      server.updated("test://a");
      expect(changes.length).toBeGreaterThan(before);
    },
    { timeout: 20_000, interval: 200 },
  );
  await client.close();
  await second.close();
});
