import { createHash, type Hash } from "node:crypto";
import { get, type IncomingMessage, request } from "node:http";
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { createServer, type JsonObject, type Listener, progress, type ServeOptions, serve } from "../../src/api/index.js";
import { begin, events, json, LEGACY, modern, modernHeaders, until } from "./requests.js";

const MiB = 1024 * 1024;

/** What makes a resource of any size, and how far it has come. */
interface Made {
  bytes: number;
  left: number;
}

/** Pieces that repeat only after a while, of a length that no group of base64 divides. */
function* pieces(bytes: number): Generator<Uint8Array> {
  const piece = Buffer.alloc(65_521);
  for (let made = 0, n = 0; made < bytes; made += piece.length, n++) {
    piece.fill(n & 255);
    piece.writeUInt32LE(n);
    yield new Uint8Array(piece.subarray(0, Math.min(piece.length, bytes - made)));
  }
}

function digest(parts: Iterable<Uint8Array | string>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function open(options: ServeOptions = {}): Promise<{ url: string; made: Made; listener: Listener } & AsyncDisposable> {
  const made: Made = { bytes: 0, left: 0 };
  const server = createServer({ name: "large", version: "1" })
    .resourceTemplate({ name: "blob", uriTemplate: "blob:///{size}" }, async function* (uri, { signal }) {
      const size = uri.slice("blob:///".length);
      signal.addEventListener("abort", () => void made.left++);
      for (const piece of pieces(Number(size))) {
        made.bytes += piece.byteLength;
        yield piece;
      }
    })
    .resourceTemplate({ name: "text", uriTemplate: "text:///{lines}" }, async function* (uri) {
      const lines = uri.slice("text:///".length);
      for (let n = 0; n < Number(lines); n++) yield `line ${n}: "quoted", a tab\t, é, 🎈 and a \\\n`;
    })
    .resource({ name: "told", uri: "told:///" }, async function* () {
      yield progress(1, 2);
      yield* pieces(2 * MiB);
      yield progress(2, 2);
    })
    .resource({ name: "several", uri: "several:///" }, async function* () {
      for (const [at, piece] of [...pieces(MiB)].entries()) yield { data: piece, uri: `several:///${at}`, mimeType: "x/y", extra: { at } };
      yield { data: "", uri: "several:///empty" };
    })
    .resource({ name: "breaks", uri: "breaks:///" }, async function* () {
      yield* pieces(2 * MiB);
      throw new Error("no more");
    });
  const listener = await serve(server, "http://127.0.0.1:0", options);
  return { url: listener.address, made, listener, [Symbol.asyncDispose]: () => listener.close() };
}

type Way = (url: string) => Promise<(uri: string) => { headers: Record<string, string>; body: JsonObject }>;
const ways: Record<string, Way> = {
  modern: async () => (uri) => {
    const body = modern(1, "resources/read", { uri });
    return { headers: modernHeaders(body), body };
  },
  "a legacy session": async (url) => {
    const session = { ...json, ...(await begin(url)) };
    return (uri) => ({ headers: session, body: { jsonrpc: "2.0", id: "r", method: "resources/read", params: { uri } } });
  },
  "legacy without a session": async () => (uri) => ({
    headers: { ...json, "mcp-protocol-version": LEGACY },
    body: { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } },
  }),
};
const options: Record<string, ServeOptions> = { "legacy without a session": { jsonOnly: true } };

function post(url: string, { headers, body }: { headers: Record<string, string>; body: JsonObject }): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent: false }, resolve);
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  answer.setEncoding("utf8");
  for await (const chunk of answer) text += chunk;
  return text;
}

/** The data of the one blob in an answer, without ever holding it. */
async function blobHash(answer: IncomingMessage, watch: () => void): Promise<{ hash: string; bytes: number }> {
  const hash: Hash = createHash("sha256");
  let bytes = 0;
  let inside = false;
  let rest = "";
  answer.setEncoding("latin1");
  for await (const chunk of answer) {
    watch();
    rest += chunk;
    if (!inside) {
      const at = rest.indexOf('"blob":"');
      if (at < 0) continue;
      rest = rest.slice(at + 8);
      inside = true;
    }
    const end = rest.indexOf('"');
    const whole = end < 0 ? rest.length - (rest.length % 4) : end;
    const data = Buffer.from(rest.slice(0, whole), "base64");
    hash.update(data);
    bytes += data.length;
    rest = rest.slice(whole);
  }
  return { hash: hash.digest("hex"), bytes };
}

describe.each(Object.entries(ways))("a large read by a client that knows no ranges: %s", (name, way) => {
  const how = options[name] ?? {};

  it("300 MB are written as they come, in bounded memory", { timeout: 120_000 }, async () => {
    await using at = await open(how);
    const ask = await way(at.url);
    const size = 300_000_000;
    await blobHash(await post(at.url, ask(`blob:///${20 * MiB}`)), () => {});
    const before = process.memoryUsage.rss();
    let most = before;
    const answer = await post(at.url, ask(`blob:///${size}`));
    expect(answer.headers["content-type"]).toBe("application/json");
    const { hash, bytes } = await blobHash(answer, () => {
      most = Math.max(most, process.memoryUsage.rss());
    });
    expect([bytes, hash]).toEqual([size, digest(pieces(size))]);
    console.log(`${name}: 300 MB read, the process grew by ${((most - before) / MiB).toFixed(0)} MiB`);
    expect(most - before).toBeLessThan(128 * MiB);
  });

  it("text, several contents and small ones keep every value", async () => {
    await using at = await open(how);
    const ask = await way(at.url);
    const read = async (uri: string): Promise<{ uri: string; text?: string; blob?: string }[]> =>
      JSON.parse(await textOf(await post(at.url, ask(uri)))).result.contents;
    const text = (await read("text:///20000"))[0]?.text ?? "";
    expect(text.length).toBeGreaterThan(MiB / 2);
    expect(text.split("\n").slice(0, -1)).toEqual(Array.from({ length: 20_000 }, (_, n) => `line ${n}: "quoted", a tab\t, é, 🎈 and a \\`));
    const several = await read("several:///");
    expect(several.map(({ uri }) => uri)).toEqual([...Array.from(pieces(MiB), (_, n) => `several:///${n}`), "several:///empty"]);
    expect(several[3]).toMatchObject({ mimeType: "x/y", extra: { at: 3 } });
    expect(digest(several.slice(0, -1).map(({ blob }) => Buffer.from(blob as string, "base64")))).toBe(digest(pieces(MiB)));
    expect(several.at(-1)).toEqual({ uri: "several:///empty", text: "" });
    const small = await post(at.url, ask("blob:///100"));
    expect(small.headers["content-length"]).toBeDefined();
    await textOf(small);
  });

  it("a client that does not read holds up the source, and one that goes ends it", async () => {
    await using at = await open(how);
    const ask = await way(at.url);
    const answer = await post(at.url, ask(`blob:///${300 * MiB}`));
    for (let before = -1; before !== at.made.bytes; ) {
      before = at.made.bytes;
      for (let n = 0; n < 20; n++) await new Promise((resolve) => get(at.url, (other) => other.resume().once("end", resolve)));
    }
    expect(at.made.bytes).toBeLessThan(32 * MiB);
    answer.destroy();
    await until(() => at.made.left > 0);
  });

  it("one that breaks is cut, not ended", async () => {
    await using at = await open(how);
    const ask = await way(at.url);
    await expect(post(at.url, ask("breaks:///")).then(textOf)).rejects.toThrow(/aborted/);
    expect(JSON.parse(await textOf(await post(at.url, ask("blob:///10")))).result.contents).toHaveLength(1);
  });

  it("is cut when the listener closes", async () => {
    const at = await open({ ...how, drainMs: 0 });
    const ask = await way(at.url);
    const answer = await post(at.url, ask(`blob:///${300 * MiB}`));
    const text = textOf(answer);
    await Promise.all([expect(text).rejects.toThrow(/aborted/), at.listener.close()]);
  });
});

it("progress that comes first makes it a stream of events, and the contents one event of it", async () => {
  await using at = await open();
  const body = modern(1, "resources/read", { uri: "told:///", _meta: { progressToken: 1 } });
  const answer = await fetch(at.url, { method: "POST", headers: modernHeaders(body), body: JSON.stringify(body) });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const messages = [];
  for await (const { message } of events(answer)) messages.push(message);
  expect(messages).toHaveLength(2);
  expect(messages[0]?.params?.["progress"]).toBe(1);
  const contents = messages[1]?.result?.["contents"] as { blob: string }[] | undefined;
  expect(digest([Buffer.from(contents?.[0]?.blob ?? "", "base64")])).toBe(digest(pieces(2 * MiB)));
});

it("the official client reads it", async () => {
  await using at = await open();
  const client = new SdkClient({ name: "sdk", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(at.url)) as Parameters<SdkClient["connect"]>[0]);
  const { contents } = await client.readResource({ uri: `blob:///${20 * MiB}` });
  expect(digest([Buffer.from((contents[0] as { blob: string }).blob, "base64")])).toBe(digest(pieces(20 * MiB)));
  await client.close();
});
