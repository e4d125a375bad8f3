import { describe, expect, it } from "vitest";
import { contextOf, faultOf, nextOf, outcome } from "../../../test/calls.js";
import { type Context, createServer, type JsonObject, progress, type ReadResult, type Reply, type ResourceReader } from "../index.js";

const make = (): ReturnType<typeof createServer> => createServer({ name: "demo", version: "1.0.0" });
const one = (read: ResourceReader): ReturnType<typeof createServer> =>
  make().resource({ uri: "a://b", name: "b", mimeType: "text/x" }, read);
const read = (result: ReadResult, context?: Context): ReturnType<typeof outcome> =>
  outcome(
    one(() => result),
    "resources/read",
    { uri: "a://b" },
    context,
  );
const contents = (replies: readonly Reply[]): JsonObject[] =>
  replies.filter((reply) => reply.kind === "content").map((reply) => ({ ...reply }));

function join(replies: readonly Reply[]): string | Uint8Array {
  const data = replies.flatMap((reply) => (reply.kind === "chunk" ? [reply.data] : []));
  if (typeof data[0] === "string") return data.join("");
  return Buffer.concat(data as Uint8Array[]);
}

describe("what a reader gives", () => {
  it("is text or bytes", async () => {
    expect(await read("héllo")).toEqual({
      replies: [
        { kind: "content", form: "text", head: { uri: "a://b", mimeType: "text/x" }, offset: 0, size: 6 },
        { kind: "chunk", data: "héllo" },
      ],
      result: {},
    });
    const bytes = Uint8Array.of(1, 2, 3);
    const { replies } = await read({ data: bytes, mimeType: "image/png", _meta: { a: 1 } });
    expect(replies).toEqual([
      { kind: "content", form: "blob", head: { uri: "a://b", mimeType: "image/png", _meta: { a: 1 } }, offset: 0, size: 3 },
      { kind: "chunk", data: bytes },
    ]);
    expect(replies[1]?.kind === "chunk" && replies[1].data).toBe(bytes);
  });

  it("is a stream, with what it yields on the way", async () => {
    async function* stream(): AsyncGenerator<Uint8Array | ReturnType<typeof progress>> {
      yield progress(1);
      yield Uint8Array.of(1);
      yield Uint8Array.of();
      yield progress(2);
      yield Uint8Array.of(2);
    }
    const { replies, result } = await read({ data: stream(), size: 2 }, contextOf({ progress: true }));
    expect(replies.map(({ kind }) => kind)).toEqual(["progress", "content", "chunk", "progress", "chunk"]);
    expect(contents(replies)).toMatchObject([{ form: "blob", size: 2 }]);
    expect([...join(replies)]).toEqual([1, 2]);
    expect(result).toEqual({});
  });

  it("is several contents, given at once or one by one", async () => {
    const parts = [{ data: "one" }, { uri: "a://c", data: Uint8Array.of(1), mimeType: "x/y" }];
    for (const given of [
      parts,
      (async function* () {
        yield* parts;
      })(),
    ]) {
      const { replies } = await read(given, contextOf({ range: { offset: 2 } }));
      expect(replies).toMatchObject([
        { kind: "content", form: "text", head: { uri: "a://b", mimeType: "text/x" }, offset: 0 },
        { kind: "chunk", data: "one" },
        { kind: "content", form: "blob", head: { uri: "a://c", mimeType: "x/y" }, offset: 0 },
        { kind: "chunk" },
      ]);
    }
    expect((await read([])).replies).toEqual([]);
  });

  it("is nothing at all, in the form its type tells", async () => {
    const empty = (): AsyncIterable<string> => (async function* () {})();
    expect((await read("")).replies).toEqual([
      { kind: "content", form: "text", head: { uri: "a://b", mimeType: "text/x" }, offset: 0, size: 0 },
    ]);
    expect((await read(empty())).replies).toMatchObject([{ form: "text" }]);
    expect((await read({ data: empty(), mimeType: "image/png" })).replies).toMatchObject([{ form: "blob" }]);
  });

  it("is a whole result, which passes as it is", async () => {
    const whole = { contents: [{ uri: "a://b", blob: "AA==\n" }], extra: 1 };
    expect(await read(whole)).toEqual({ replies: [], result: whole });
    const asked = { resultType: "input_required", requestState: "s" };
    expect((await read(asked)).result).toBe(asked);
  });

  it("must not mix text and bytes", async () => {
    const fault = await faultOf(
      one(async function* () {
        yield "a";
        yield Uint8Array.of(1);
      }),
      "resources/read",
      { uri: "a://b" },
    );
    expect(fault).toMatchObject({ code: "internal", message: "a content mixes text and bytes" });
  });
});

describe("chunks", () => {
  it("of bytes are slices, not copies", async () => {
    const bytes = new Uint8Array(150_000).map((_, at) => at % 251);
    const { replies } = await read(bytes);
    const data = replies.flatMap((reply) => (reply.kind === "chunk" ? [reply.data as Uint8Array] : []));
    expect(data.map(({ byteLength }) => byteLength)).toEqual([65_536, 65_536, 18_928]);
    expect(data.every(({ buffer }) => buffer === bytes.buffer)).toBe(true);
    expect(Buffer.from(bytes).equals(join(replies) as Uint8Array)).toBe(true);
  });

  it.each([1, 3, 4, 5, 64, 1000])("of text are whole code points of at most %i bytes", async (chunkSize) => {
    const text = "aé€😀".repeat(50);
    const { replies } = await read(text, contextOf({ range: { offset: 0, chunkSize } }));
    for (const reply of replies) {
      if (reply.kind !== "chunk") continue;
      const { byteLength } = new TextEncoder().encode(reply.data as string);
      expect(byteLength <= chunkSize || [...(reply.data as string)].length === 1).toBe(true);
      expect(reply.data).not.toContain("\ufffd");
    }
    expect(join(replies)).toBe(text);
  });

  it("of a stream that cuts a pair in two are whole", async () => {
    const { replies } = await read(["x\ud83d", "\ude00", "y\ud83d"][Symbol.iterator]() as Iterable<string>);
    expect(replies.flatMap((reply) => (reply.kind === "chunk" ? [reply.data] : []))).toEqual(["x", "😀", "y", "\ud83d"]);
  });
});

describe("ranges", () => {
  const bytes = new Uint8Array(1000).map((_, at) => at % 251);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 70) yield bytes.subarray(at, at + 70);
  }

  it.each([0, 1, 69, 70, 71, 500, 999, 1000])("of bytes start at %i, given whole or by a generator", async (offset) => {
    for (const given of [bytes, pieces(), { data: pieces(), size: 1000 }]) {
      const { replies } = await read(given, contextOf({ range: { offset, chunkSize: 33 } }));
      expect(contents(replies)).toMatchObject([{ offset, form: "blob" }]);
      expect(Buffer.from(bytes.subarray(offset)).equals(join(replies) as Uint8Array)).toBe(true);
      for (const reply of replies) if (reply.kind === "chunk") expect(reply.data.length).toBeLessThanOrEqual(33);
    }
  });

  it("beyond the end say where the end is", async () => {
    const { replies } = await read(pieces(), contextOf({ range: { offset: 5000 } }));
    expect(replies).toMatchObject([{ kind: "content", form: "blob", offset: 1000 }]);
  });

  it("of text count bytes of UTF-8 and start on a code point", async () => {
    const text = "aé€😀".repeat(3);
    const encoded = new TextEncoder().encode(text);
    async function* units(): AsyncGenerator<string> {
      for (let at = 0; at < text.length; at++) yield text[at] as string;
    }
    for (let offset = 0; offset <= encoded.length; offset++) {
      for (const given of [text, units()]) {
        const { replies } = await read(given, contextOf({ range: { offset } }));
        const started = contents(replies)[0]?.["offset"] as number;
        expect(started).toBeLessThanOrEqual(offset);
        expect(offset - started).toBeLessThan(4);
        const rest = new TextEncoder().encode(replies.flatMap((reply) => (reply.kind === "chunk" ? [reply.data] : [])).join(""));
        expect(rest).toEqual(encoded.slice(started));
      }
    }
  });

  it("are the reader's own business if it seeks", async () => {
    const server = one((_, { range }) => {
      const offset = Math.floor((range?.offset ?? 0) / 100) * 100;
      return { data: bytes.subarray(offset), offset };
    });
    const { replies } = await outcome(server, "resources/read", { uri: "a://b" }, contextOf({ range: { offset: 345 } }));
    expect(contents(replies)).toMatchObject([{ offset: 345, size: 1000 }]);
    expect(Buffer.from(bytes.subarray(345)).equals(join(replies) as Uint8Array)).toBe(true);
  });

  it.each([{ offset: -1 }, { offset: 0.5 }, { offset: 0, chunkSize: 0 }])("%j is refused", async (range) => {
    const fault = await faultOf(
      one(() => "x"),
      "resources/read",
      { uri: "a://b" },
      contextOf({ range }),
    );
    expect(fault.code).toBe("invalid-params");
  });
});

describe("a read", () => {
  it("pulls its source and returns it when left", async () => {
    let made = 0;
    let returned = false;
    const server = one(async function* () {
      try {
        for (;;) yield new Uint8Array(++made);
      } finally {
        returned = true;
      }
    });
    const replies = server.call({ method: "resources/read", params: { uri: "a://b" } }, contextOf());
    await nextOf(replies);
    await nextOf(replies);
    expect(made).toBe(1);
    await nextOf(replies);
    expect(made).toBe(2);
    await replies.return();
    await new Promise((resolve) => setImmediate(resolve));
    expect(returned).toBe(true);
  });

  it("returns a source that is awaited, once", async () => {
    let returned = 0;
    const stuck: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          returned++;
          return { done: true, value: undefined };
        },
      }),
    };
    const replies = one(() => stuck).call({ method: "resources/read", params: { uri: "a://b" } }, contextOf());
    const pending = replies.next();
    await new Promise((resolve) => setImmediate(resolve));
    await replies.return();
    expect((await pending).done).toBe(true);
    expect(returned).toBe(1);
  });

  it("finds fixed resources, then templates, then catalogues", async () => {
    const server = make()
      .resource({ uri: "t://x/fixed", name: "f" }, () => "fixed")
      .resourceTemplate({ uriTemplate: "t://x/{id}", name: "t", mimeType: "text/plain" }, (uri, { variables }) =>
        variables["id"] === "gone" ? undefined : `${uri} ${String(variables["id"])}`,
      )
      .resources({ list: () => [], read: (uri) => (uri.startsWith("c://") ? "catalogue" : undefined) });
    const get = async (uri: string): Promise<unknown> => join((await outcome(server, "resources/read", { uri })).replies);
    expect(await get("t://x/fixed")).toBe("fixed");
    expect(await get("t://x/a%20b")).toBe("t://x/a%20b a b");
    expect(await get("c://y")).toBe("catalogue");
    for (const uri of ["t://x/gone", "u://none", "__proto__"]) {
      const fault = await faultOf(server, "resources/read", { uri });
      expect(fault).toMatchObject({ code: "not-found", message: `resource not found: ${uri}`, data: { uri } });
    }
    expect((await faultOf(server, "resources/read", {})).code).toBe("invalid-params");
  });

  it("tells what a reader threw, and its cause to onFault", async () => {
    const server = one(() => {
      throw new Error("disk");
    });
    const causes: unknown[] = [];
    server.onFault(({ cause }) => causes.push(cause));
    expect(await faultOf(server, "resources/read", { uri: "a://b" })).toMatchObject({ code: "internal", message: "disk" });
    expect(causes).toMatchObject([{ message: "disk" }]);
  });
});

describe("lists of resources", () => {
  it("hold what was registered, without the functions", async () => {
    const server = make()
      .resource({ uri: "a://b", name: "b", size: 4 }, () => "x")
      .resourceTemplate(
        { uriTemplate: "t://{id}", name: "t", _meta: { k: 1 }, complete: { id: () => ["1"] }, list: () => [{ uri: "t://1", name: "1" }] },
        () => "x",
      )
      .resources({
        list: async function* () {
          yield { uri: "c://1", name: "c" };
        },
        templates: () => [{ uriTemplate: "c://{x}", name: "c" }],
        read: () => undefined,
      });
    const items = async (method: string): Promise<unknown[]> =>
      (await outcome(server, method)).replies.map((reply) => reply.kind === "item" && reply.value);
    expect(await items("resources/list")).toEqual([
      { uri: "a://b", name: "b", size: 4 },
      { uri: "t://1", name: "1" },
      { uri: "c://1", name: "c" },
    ]);
    expect(await items("resources/templates/list")).toEqual([
      { uriTemplate: "t://{id}", name: "t", _meta: { k: 1 } },
      { uriTemplate: "c://{x}", name: "c" },
    ]);
  });
});
