import { describe, expect, it } from "vitest";
import { all, type Handle, type Peer, peer } from "../../../test/support/peer.js";
import { type ClientOptions, createClient, type McpClient, type ResourceChunk } from "../index.js";

const uri = "file:///a";
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

async function reading(handle: Handle, options?: ClientOptions): Promise<{ client: McpClient; server: Peer }> {
  const server = peer({ "resources/read": handle });
  return { client: await createClient(server, options), server };
}

const mixed: Handle = async function* () {
  yield { kind: "content", form: "text", head: { uri, mimeType: "text/plain" }, size: 4 };
  yield { kind: "chunk", data: "a€" };
  yield { kind: "content", form: "blob", head: { uri: "file:///b", _meta: { x: 1 } } };
  yield { kind: "chunk", data: bytes(0, 1) };
  yield { kind: "chunk", data: bytes(2, 255) };
  yield { kind: "content", form: "none", head: { uri: "file:///c" } };
  return { resultType: "complete", ttlMs: 1 };
};

describe("readResource", () => {
  it("puts contents together", async () => {
    const { client, server } = await reading(mixed);
    await expect(client.readResource(uri)).resolves.toEqual({
      resultType: "complete",
      ttlMs: 1,
      contents: [
        { uri, mimeType: "text/plain", text: "a€" },
        { uri: "file:///b", _meta: { x: 1 }, blob: "AAEC/w==" },
        { uri: "file:///c" },
      ],
    });
    expect(server.of("resources/read")[0]?.context.range).toBeUndefined();
  });

  it("passes whole contents through", async () => {
    const contents = [{ uri, blob: "AAF=" }];
    const { client } = await reading(() => ({ contents }));
    await expect(client.readResource(uri)).resolves.toEqual({ contents });
  });

  it("is bounded", async () => {
    const { client, server } = await reading(
      async function* () {
        yield { kind: "content", form: "blob", head: { uri } };
        for (;;) yield { kind: "chunk", data: new Uint8Array(1000) };
      },
      { collectBytes: 10_000 },
    );
    await expect(client.readResource(uri)).rejects.toMatchObject({ code: "overload" });
    expect(server.left).toEqual(["resources/read"]);
  });
});

describe("readChunks", () => {
  it("gives the parts as they come", async () => {
    const { client, server } = await reading(mixed);
    expect(await all(client.readChunks(uri))).toEqual([
      { uri, mimeType: "text/plain", data: "a€", offset: 0, size: 4 },
      { uri: "file:///b", data: bytes(0, 1), offset: 4 },
      { uri: "file:///b", data: bytes(2, 255), offset: 6 },
    ]);
    expect(server.of("resources/read")[0]?.context.range).toEqual({ offset: 0 });
  });

  it("trusts a server that took the range", async () => {
    const { client, server } = await reading(async function* (_, { range }) {
      yield { kind: "content", form: "blob", head: { uri }, offset: range?.offset ?? 0, size: 12 };
      yield { kind: "chunk", data: bytes(10, 11) };
      return {};
    });
    expect(await all(client.readChunks(uri, { offset: 10, chunkSize: 4 }))).toEqual([{ uri, data: bytes(10, 11), offset: 10, size: 12 }]);
    expect(server.of("resources/read")[0]?.context.range).toEqual({ offset: 10, chunkSize: 4 });
  });

  it.each([undefined, 1])("skips what comes before the range (server starts at %s)", async (start) => {
    const { client } = await reading(async function* () {
      yield { kind: "content", form: "blob", head: { uri }, ...(start === undefined ? {} : { offset: start }) };
      const first = start ?? 0;
      yield { kind: "chunk", data: Uint8Array.from({ length: 3 }, (_, n) => first + n) };
      yield { kind: "chunk", data: Uint8Array.from({ length: 6 }, (_, n) => first + 3 + n) };
      return {};
    });
    const chunks: ResourceChunk[] = await all(client.readChunks(uri, { offset: 5, chunkSize: 2 }));
    expect(chunks.map(({ offset }) => offset)).toEqual(start === undefined ? [5, 7] : [5, 7, 9]);
    expect(chunks.flatMap(({ data }) => [...(data as Uint8Array)])).toEqual([5, 6, 7, 8, ...(start === undefined ? [] : [9])]);
  });

  it("cuts text between code points, and counts it in UTF-8", async () => {
    const { client } = await reading(async function* () {
      yield { kind: "content", form: "text", head: { uri } };
      yield { kind: "chunk", data: "aé" };
      yield { kind: "chunk", data: "€😀z" };
      return {};
    });
    const parts = async (options: object): Promise<unknown[]> =>
      (await all(client.readChunks(uri, options))).map(({ data, offset }) => [offset, data]);
    expect(await parts({ chunkSize: 4 })).toEqual([
      [0, "aé"],
      [3, "€"],
      [6, "😀"],
      [10, "z"],
    ]);
    expect(await parts({ offset: 3 })).toEqual([[3, "€😀z"]]);
    // In the middle of a code point: the next whole one.
    expect(await parts({ offset: 7 })).toEqual([[10, "z"]]);
  });

  it("decodes and cuts what came whole", async () => {
    const { client } = await reading(() => ({
      contents: [
        { uri, mimeType: "text/plain", text: "hello" },
        { uri: "file:///b", blob: "AAECAw==" },
        { uri: "file:///c", text: "x".repeat(100_000) },
      ],
    }));
    const small = await all(client.readChunks(uri, { offset: 2, chunkSize: 3 }));
    expect(small.slice(0, 3)).toEqual([
      { uri, mimeType: "text/plain", data: "llo", offset: 2 },
      { uri: "file:///b", data: bytes(0, 1, 2), offset: 5 },
      { uri: "file:///b", data: bytes(3), offset: 8 },
    ]);
    const large = await all(client.readChunks(uri, { offset: 9 }));
    expect(large.map(({ data }) => data.length)).toEqual([65536, 100_000 - 65536]);
  });

  it("refuses nonsense of either side", async () => {
    const { client } = await reading(() => ({ contents: [{ uri, blob: "%" }] }));
    await expect(all(client.readChunks(uri))).rejects.toMatchObject({ code: "invalid-request" });
    await expect(client.readChunks(uri, { offset: -1 }).next()).rejects.toMatchObject({ code: "invalid-params" });
    await expect(client.readChunks(uri, { chunkSize: 0 }).next()).rejects.toMatchObject({ code: "invalid-params" });
    const early = await reading(async function* () {
      yield { kind: "chunk", data: "a" };
      return {};
    });
    await expect(early.client.readResource(uri)).rejects.toMatchObject({ code: "invalid-request" });
  });

  it("pulls no more than is read, and ends when left", async () => {
    let sent = 0;
    const { client, server } = await reading(async function* () {
      yield { kind: "content", form: "blob", head: { uri } };
      for (;;) {
        sent++;
        yield { kind: "chunk", data: bytes(1) };
      }
    });
    let read = 0;
    for await (const _ of client.readChunks(uri)) if (++read === 10) break;
    expect(sent).toBe(10);
    expect(server.left).toEqual(["resources/read"]);
  });
});
