import { expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";

const CHUNK = new Uint8Array(64 * 1024);
const READS = 32;
const MIB = 1024 ** 2;

const endless = (made: { bytes: number }) =>
  createServer({ name: "endless", version: "0" }).resource({ uri: "test://endless", name: "endless" }, async function* () {
    for (;;) {
      made.bytes += CHUNK.length;
      yield CHUNK;
    }
  });

/** What the server has made, once it has stopped. */
async function settled(made: { bytes: number }): Promise<number> {
  for (let before = -1; before !== made.bytes; ) {
    before = made.bytes;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return made.bytes;
}

it.each(["grpc://127.0.0.1:0", "tunnel+grpc://127.0.0.1:0", "ws://127.0.0.1:0", "sse+http://127.0.0.1:0", "tcp://127.0.0.1:0"])(
  "%s: reads that are not read hold a bounded amount together, and give it back",
  async (address) => {
    const made = { bytes: 0 };
    await using listener = await serve(endless(made), address.replace("tunnel+", ""));
    const target = address.startsWith("tunnel+") ? `tunnel+${listener.address}` : listener.address;
    const most: number[] = [];
    for (let round = 0; round < 2; round++) {
      made.bytes = 0;
      // More connections have no more.
      await using first = await connect(target);
      await using second = await connect(target);
      const reads = Array.from({ length: READS }, (_, at) =>
        (at % 2 === 0 ? first : second).readChunks("test://endless")[Symbol.asyncIterator](),
      );
      await Promise.all(reads.map((read) => read.next()));
      most.push(await settled(made));
      for (const read of reads) await read.return?.();
    }
    for (const bytes of most) {
      // On their own they would have 6 MiB each, or 16.
      expect(bytes).toBeLessThan((64 + 2 * READS) * MIB);
      expect(bytes).toBeGreaterThan(32 * MIB);
    }
  },
  60_000,
);
