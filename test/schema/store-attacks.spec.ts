import { execFileSync } from "node:child_process";
import { setMaxListeners } from "node:events";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { schemaLimits } from "../../src/core/index.js";
import { readDescriptorSet, schemaStore } from "../../src/schema/index.js";
import { commitA, message, oneCommit, proto, rawRegistry, refuse, searchTool, setOf, storeAt } from "./registries.js";
import { scratch } from "./support.js";

const reference = "buf.build/acme/tools/acme.tools.v1.WebSearchRequest:v1";
const set = setOf(searchTool);
const unresolved = (reason: string, more: object = {}): unknown =>
  expect.objectContaining({ name: "Fault", rpcCode: -33000, data: expect.objectContaining({ reason, ...more }) });

describe("a thousand misses at the same time", () => {
  it("of one schema are one question, and its failure is not kept", async () => {
    let known = false;
    const raw = await rawRegistry((asked, response) =>
      known ? oneCommit(commitA, set)(asked, response) : void setImmediate(() => refuse(response, 404, "not_found")),
    );
    const store = storeAt(raw.url, { cache: scratch() });
    const missed = await Promise.allSettled(Array.from({ length: 1_000 }, () => store.resolve(reference)));
    for (const each of missed) expect(each).toMatchObject({ status: "rejected", reason: unresolved("not-found") });
    expect(raw.asked.length).toBe(1);
    known = true;
    expect(await store.resolve(reference)).toMatchObject({ commit: commitA, from: "registry" });
  });

  it("of different schemas are asked for over a few connections, and all are answered", async () => {
    let [open, most] = [0, 0];
    const raw = await rawRegistry((asked, response) => {
      most = Math.max(most, ++open);
      response.on("close", () => open--);
      setImmediate(() => oneCommit(commitA, set)(asked, response));
    });
    const store = storeAt(raw.url, { timeoutMs: 60_000 });
    const found = await Promise.all(Array.from({ length: 1_000 }, (_, index) => store.resolve(reference.replace(":v1", `:v${index}`))));
    expect(new Set(found.map(({ commit }) => commit))).toEqual(new Set([commitA]));
    expect(most).toBeLessThanOrEqual(8);
  }, 60_000);

  it("that nobody waits for any more end their questions", async () => {
    let closed = 0;
    const raw = await rawRegistry((_, response) => void response.on("close", () => closed++));
    const store = storeAt(raw.url);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const waiting = Promise.allSettled(
      Array.from({ length: 1_000 }, (_, index) => store.resolve(reference.replace(":v1", `:v${index % 4}`), { signal: stop.signal })),
    );
    await expect.poll(() => raw.asked.length, { timeout: 15_000 }).toBe(4);
    stop.abort();
    for (const each of await waiting) expect(each).toMatchObject({ status: "rejected", reason: { code: "cancelled" } });
    await expect.poll(() => closed, { timeout: 15_000 }).toBe(4);
  }, 60_000);
});

describe("a registry that would lead elsewhere", () => {
  it.each([301, 302, 303, 307, 308])("is not followed, nor is the token sent there: %i", async (status) => {
    const other = await rawRegistry(oneCommit(commitA, set));
    const raw = await rawRegistry(({ path }, response) => void response.writeHead(status, { location: `${other.url}${path}` }).end());
    const store = storeAt(raw.url, { env: { HOME: "/nowhere", BUF_TOKEN: "t0ken" } });
    await expect(store.resolve(reference)).rejects.toEqual(unresolved("bad-answer"));
    expect([raw.asked.length, other.asked.length]).toEqual([1, 0]);
  });
});

describe("a registry that never comes to an end", () => {
  it("is left where it sends a byte at a time", async () => {
    const raw = await rawRegistry((_, response) => {
      response.writeHead(200, { "content-type": "application/proto" });
      const drip = setInterval(() => response.write("\n"), 5);
      response.on("close", () => clearInterval(drip));
    });
    await expect(storeAt(raw.url, { timeoutMs: 200 }).resolve(reference)).rejects.toEqual(unresolved("timeout"));
  });

  it("is refused where it sends less than it announced", async () => {
    const raw = await rawRegistry((_, response) => {
      response.writeHead(200, { "content-type": "application/proto", "content-length": "1000" });
      response.write("\n", () => response.socket?.destroy());
    });
    await expect(storeAt(raw.url).resolve(reference)).rejects.toEqual(unresolved("unreachable"));
  });

  it("keeps nothing of a set in which files import each other", async () => {
    const file = (name: string, other: string): Uint8Array =>
      message([
        [1, name],
        [3, other],
      ]);
    const circle = message([
      [1, file("a.proto", "b.proto")],
      [1, file("b.proto", "a.proto")],
    ]);
    const cache = scratch();
    const raw = await rawRegistry((_, response) =>
      proto(
        response,
        message([
          [1, circle],
          [2, message([[1, commitA]])],
        ]),
      ),
    );
    await expect(storeAt(raw.url, { cache }).resolve(reference)).rejects.toEqual(unresolved("descriptors"));
    expect(readdirSync(cache)).toEqual([]);
  });
});

describe("a cache that is not what was written", () => {
  it.each<[name: string, spoil: (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path)],
    ["a pipe", (path) => void execFileSync("mkfifo", [path])],
    ["a link to an endless file", (path) => symlinkSync("/dev/zero", path)],
    ["empty", (path) => writeFileSync(path, "")],
    ["a head without an end", (path) => writeFileSync(path, Buffer.alloc(1_000_000, "{"))],
    ["a head that is deep", (path) => writeFileSync(path, `${"[".repeat(4_000)}\n`)],
  ])("is fetched again where it is %s", async (_, spoil) => {
    const raw = await rawRegistry(oneCommit(commitA, set));
    const cache = scratch();
    const { pinned, sha256 } = await storeAt(raw.url, { cache }).resolve(reference);
    for (const name of readdirSync(cache)) {
      rmSync(join(cache, name));
      spoil(join(cache, name));
    }
    const warnings: string[] = [];
    const store = storeAt(raw.url, { cache, onWarning: (text) => warnings.push(text) });
    expect(await store.resolve(pinned, { sha256 })).toMatchObject({ from: "registry", sha256 });
    expect(warnings[0]).toMatch(/is damaged; .* is fetched again/);
    expect(await store.resolve(reference)).toMatchObject({ commit: commitA });
    await expect(storeAt(raw.url, { cache: `${cache}-none`, offline: true }).resolve(reference)).rejects.toEqual(unresolved("offline"));
  });

  it.skipIf(process.platform !== "linux")("is done without where its folder can never be made", async () => {
    const raw = await rawRegistry(oneCommit(commitA, set));
    const warnings: string[] = [];
    const store = storeAt(raw.url, { cache: "/proc/nope/schemas", onWarning: (text) => warnings.push(text) });
    expect(await store.resolve(reference)).toMatchObject({ from: "registry" });
    expect(warnings[0]).toMatch(/\/proc\/nope\/schemas\/.* cannot be written: ENOENT/);
  });
});

describe("descriptors of few bytes and much memory", () => {
  const field = (number: number, inner: Uint8Array): Uint8Array =>
    new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(inner).finish();
  const repeated = (number: number, count: number): Uint8Array => {
    const bytes = new Uint8Array(2 * count);
    for (let at = 0; at < bytes.length; at += 2) bytes[at] = 8 * number + 2;
    return bytes;
  };
  let deep: Uint8Array = new Uint8Array();
  for (let level = 0; level < 20_000; level++) deep = field(3, deep);
  it.each<[name: string, bytes: Uint8Array, limit?: "descriptorDepth"]>([
    ["messages", field(1, repeated(4, 1_000_000))],
    ["files", repeated(1, 1_000_000)],
    ["fields of a message", field(1, field(4, repeated(2, 1_000_000)))],
    ["locations", field(1, field(9, repeated(1, 1_000_000)))],
    ["unknown options", field(1, field(8, repeated(15, 4_000_000)))],
    ["messages within messages", field(1, field(4, deep)), "descriptorDepth"],
  ])("are refused before they are read: %s", async (_, bytes, exceeded) => {
    const limit = exceeded ?? "descriptorWeight";
    const data = { limit, max: schemaLimits[limit] };
    expect(() => schemaStore({ registries: {} }).inline(bytes)).toThrow(unresolved("descriptors", data));
    expect(() => readDescriptorSet(bytes)).toThrow(unresolved("descriptors", data));
    const raw = await rawRegistry(oneCommit(commitA, bytes));
    await expect(storeAt(raw.url).resolve(reference)).rejects.toEqual(unresolved("too-large", data));
    expect(process.memoryUsage().heapUsed).toBeLessThan(1_000_000_000);
  });

  it("are refused beyond a number of bytes and of files, and the fault names the limit", async () => {
    const [large, data] = [
      new Uint8Array(schemaLimits.descriptorBytes + 1),
      { limit: "descriptorBytes", max: schemaLimits.descriptorBytes },
    ];
    const path = join(scratch(), "large.binpb");
    writeFileSync(path, large);
    await expect(schemaStore({ registries: {} }).file(path)).rejects.toEqual(unresolved("too-large", data));
    expect(() => schemaStore({ registries: {} }).inline(large)).toThrow(unresolved("too-large", data));
    expect(() => readDescriptorSet(large)).toThrow(unresolved("descriptors", data));
    const files = { limit: "descriptorFiles", max: schemaLimits.descriptorFiles };
    expect(() => readDescriptorSet(repeated(1, files.max + 1))).toThrow(unresolved("descriptors", files));
  });
});
