import { expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";

const CHUNK = new Uint8Array(64 * 1024);
const READS = 32;
const MIB = 1024 ** 2;

const server = (made: { bytes: number }) =>
  createServer({ name: "endless", version: "0" }).resource({ uri: "test://endless", name: "endless" }, async function* () {
    for (;;) {
      made.bytes += CHUNK.length;
      yield CHUNK;
    }
  });

/** What servers have made, once they have stopped. */
async function settled(made: { bytes: number }): Promise<number> {
  for (let before = -1; before !== made.bytes; ) {
    before = made.bytes;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return made.bytes;
}

it("bounds what all reads together have before they are read, and gives it back when they end", async () => {
  const made = { bytes: 0 };
  await using listener = await serve(server(made), "grpc://127.0.0.1:0");
  const most: number[] = [];
  for (let round = 0; round < 2; round++) {
    made.bytes = 0;
    // A connection of its own has no budget of its own.
    await using first = await connect(listener.address);
    await using second = await connect(listener.address);
    const reads = Array.from({ length: READS }, (_, at) =>
      (at % 2 === 0 ? first : second).readChunks("test://endless")[Symbol.asyncIterator](),
    );
    await Promise.all(reads.map((read) => read.next()));
    most.push(await settled(made));
    for (const read of reads) await read.return?.();
  }
  for (const bytes of most) {
    // Without a common bound it would be 16 MiB for each.
    expect(bytes).toBeLessThan((64 + 2 * READS) * MIB);
    // The first ones may still be read far ahead, in the second round, too.
    expect(bytes).toBeGreaterThan(48 * MIB);
  }
}, 60_000);
