import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { type Channel, grpcChannel } from "../../../src/io/index.js";
import { HEADERS, RST_STREAM, SETTINGS } from "./raw.js";
import { answer, frame, rawServer, setting } from "./raw-server.js";

const CONCURRENT = 3;
const ACK = 1;
const patience = { timeout: 10_000, interval: 5 };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function dialled(port: number): Channel {
  const channel = grpcChannel([{ host: "127.0.0.1", port }], { spread: 1 });
  ends.push(() => channel.close());
  return channel;
}

function call(channel: Channel): ReturnType<Channel["call"]> {
  const made = channel.call("/t.T/M");
  made.done();
  return made;
}

it("a server at its limit gets the next request when it has read the reset of another", async () => {
  const server = await rawServer(() => {}, { hello: Buffer.concat([setting([CONCURRENT, 2]), frame(SETTINGS, ACK, 0)]) });
  ends.push(() => server.close());
  const channel = dialled(server.port);
  const calls = [call(channel), call(channel)];
  const peer = await vi.waitFor(() => {
    const [found] = server.peers;
    expect(found?.heard.filter(({ type }) => type === HEADERS)).toHaveLength(2);
    return found as (typeof server.peers)[number];
  }, patience);
  const own = (): number[] => peer.heard.filter(({ type, flags }) => type !== SETTINGS || flags === 0).map(({ type }) => type);
  const before = own().length;
  for (const each of calls) each.cancel();
  const next = call(channel);
  await vi.waitFor(
    () =>
      expect(
        own()
          .slice(before)
          .filter((type) => type === RST_STREAM),
      ).toHaveLength(2),
    patience,
  );
  // One frame of settings for the first reset, and one for what came until that was acknowledged.
  await vi.waitFor(() => expect(own().slice(before)).toEqual([RST_STREAM, SETTINGS, RST_STREAM]), patience);
  peer.send(frame(SETTINGS, ACK, 0));
  const id = await peer.request(2);
  peer.send(answer(id, "next"));
  expect(await next.status).toMatchObject({ code: 0 });
});

it("a server that acknowledges no settings is not waited for long", async () => {
  const server = await rawServer(async (peer) => peer.send(answer(await peer.request(1), "next")), { hello: setting([CONCURRENT, 1]) });
  ends.push(() => server.close());
  const channel = dialled(server.port);
  const first = call(channel);
  await vi.waitFor(() => expect(server.peers[0]?.heard.some(({ type }) => type === HEADERS)).toBe(true), patience);
  first.cancel();
  expect(await call(channel).status).toMatchObject({ code: 0 });
});

it("node:http2 at its limit answers each call after a cancelled one", async () => {
  const server = createServer({ settings: { maxConcurrentStreams: 1 } });
  let open = 0;
  server.on("stream", (stream, { "x-hangs": hangs }) => {
    open++;
    stream.on("error", () => {}).resume();
    if (hangs !== undefined) return;
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close());
  const channel = dialled((server.address() as AddressInfo).port);
  for (let round = 0; round < 20; round++) {
    const hanging = channel.call("/t.T/M", { metadata: { "x-hangs": "1" } });
    hanging.done();
    await vi.waitFor(() => expect(open).toBe(2 * round + 1), patience);
    hanging.cancel();
    expect(await call(channel).status).toMatchObject({ code: 0 });
  }
});
