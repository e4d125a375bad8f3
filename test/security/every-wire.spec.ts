import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createServer, elicit, type JsonObject } from "../../src/api/index.js";
import { begin, post, until } from "../http/requests.js";
import { listen, type Message, type Served, type Talk, talk, toolCall } from "../support/talk.js";

const portOf = (address: string): number => Number(/:(\d+)/.exec(address)?.[1]);
const server = () =>
  createServer({ name: "x", version: "1" })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
    .tool("ask", {}, async function* () {
      return JSON.stringify(yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } }));
    });
/** The wires whose messages are a text that a client can write as it likes. */
const texts: readonly Served[] = ["http", "sse", "ws", "tunnel"];

/** Opens a stream of HTTP+SSE; gives where its messages go. */
async function endpoint(address: string): Promise<string> {
  const url = address.replace(/^sse\+/, "");
  const text = new TextDecoder().decode((await (await fetch(url)).body?.getReader().read())?.value);
  return new URL(/data: (\S+)/.exec(text)?.[1] ?? "", url).href;
}

/** Sends a text in place of the arguments of a call, and gives what was echoed, or the error. */
async function said(raw: Talk, id: number, args: string): Promise<Message> {
  raw.send(JSON.stringify(toolCall("legacy", id, "echo", { at: "@" })).replace('{"at":"@"}', args));
  return raw.answer(id);
}

describe.each(texts)("JSON over %s", (wire) => {
  it("19, 20, 21: keys that are nearly the real ones are data, the last of two counts, and prototypes are none", async () => {
    await using listener = await listen(server(), wire);
    const raw = await talk(listener.address, wire, "legacy");
    const echoed = async (id: number, args: string): Promise<string> =>
      JSON.stringify((await said(raw, id, args)).result?.["structuredContent"]);
    expect(await echoed(1, '{"a":1,"A":2,"b":1,"b":2}')).toBe('{"a":1,"A":2,"b":2}');
    const hostile = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"a":[{"__proto__":null}]}';
    expect(await echoed(2, hostile)).toBe(hostile);
    expect("polluted" in {}).toBe(false);
    // Neither names the tool: the real key has to.
    const near = '{"jsonrpc":"2.0","id":3,"method":"tools/call","param\u017f":{"name":"echo"},"Params":{"name":"echo"}}';
    raw.send(near);
    expect((await raw.answer(3)).error?.code).toBe(-32602);
    await raw.leave();
  });

  it("22: nested 100,000 deep is an error, and the next call is answered", async () => {
    const DEPTH = 100_000;
    const deep = `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`;
    await using listener = await listen(server(), wire);
    const raw = await talk(listener.address, wire, "legacy");
    // Over HTTP it is the answer to the POST, whoever reads the stream.
    const at = wire === "http" ? listener.address : wire === "sse" ? await endpoint(listener.address) : undefined;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${deep}}}`;
    if (at === undefined) expect((await said(raw, 1, deep)).error?.data).toMatchObject({ limit: "depth" });
    else expect((await post(at, body, wire === "http" ? await begin(at) : {})).status).toBe(413);
    expect((await said(raw, 2, '{"still":"here"}')).result?.["structuredContent"]).toEqual({ still: "here" });
    await raw.leave();
  });
});

describe("15: a requestState", () => {
  const form = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const ask = (id: number, more: JsonObject = {}) => toolCall("modern", id, "ask", {}, { _meta: form, ...more });

  it.each(["http", "ws", "tunnel", "grpc", "unary", "connect"] as readonly Served[])(
    "that was tampered with or is for another call is refused over %s",
    async (wire) => {
      await using listener = await listen(server(), wire);
      const raw = await talk(listener.address, wire, "modern");
      raw.send(ask(1));
      const { inputRequests, requestState } = (await raw.answer(1)).result as { inputRequests: JsonObject; requestState: string };
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: "accept", content: {} }]));
      const retried = async (id: number, more: JsonObject): Promise<number | undefined> => {
        raw.send(ask(id, { inputResponses, ...more }));
        return (await raw.answer(id)).error?.code;
      };
      const middle = Math.floor(requestState.length / 2);
      const flipped = requestState.slice(0, middle) + (requestState[middle] === "A" ? "B" : "A") + requestState.slice(middle + 1);
      expect(await retried(2, { requestState: flipped })).toBe(-32602);
      expect(await retried(3, { requestState: `${requestState}x` })).toBe(-32602);
      expect(await retried(4, { requestState, arguments: { other: 1 } })).toBe(-32602);
      expect(await retried(5, { requestState })).toBeUndefined();
      expect(await retried(6, { requestState })).toBe(-32602);
      await raw.leave();
    },
  );
});

it.each(["sse", "tunnel", "grpc"] as readonly Served[])(
  "16: two clients that use the same id at once get their own answers over %s",
  async (wire) => {
    const N = wire === "sse" ? 300 : 1_000;
    await using listener = await listen(server(), wire);
    const right = await Promise.all(
      [0, 1].map(async (who) => {
        const raw = await talk(listener.address, wire, "legacy");
        let count = 0;
        for (let n = 0; n < N; n++) {
          raw.send(toolCall("legacy", 0, "echo", { who, n }));
          const { result } = await raw.answer(0);
          if (JSON.stringify(result?.["structuredContent"]) === JSON.stringify({ who, n })) count++;
          raw.forget();
        }
        await raw.leave();
        return count;
      }),
    );
    expect(right).toEqual([N, N]);
  },
);

/** What a listener says to bytes, until it closes or has said enough. */
async function answered(port: number, bytes: readonly (string | Uint8Array)[], enough: RegExp): Promise<string> {
  const socket = connectTcp({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  await once(socket, "connect");
  let text = "";
  let closed = false;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("close", () => {
    closed = true;
  });
  for (const part of bytes) {
    socket.write(part);
    if (part !== bytes.at(-1)) await until(() => closed || text.includes("\r\n\r\n"));
  }
  await until(() => closed || enough.test(text));
  socket.destroy();
  return text;
}

describe("24: a declared length of 4 GiB is refused before any room is made", () => {
  const LENGTH = 0xff_ff_ff_ff;
  const head = (path: string, ...lines: string[]): string => [`POST ${path} HTTP/1.1`, "Host: localhost", ...lines, "", ""].join("\r\n");
  const framed = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0x7b]);
  const long = [`Content-Length: ${LENGTH}`];
  const rpc = "/mcp.v1.McpService/";
  const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="];
  const frame = Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), Buffer.from("{")]);
  const cases: [string, Served, readonly (string | Uint8Array)[], RegExp][] = [
    [
      "the body of HTTP",
      "http",
      [head("/mcp", "Content-Type: application/json", "Accept: application/json, text/event-stream", ...long)],
      / 413 /,
    ],
    ["a frame of WebSocket", "ws", [head("/mcp", ...upgrade).replace("POST", "GET"), frame], /\u0088..\u00f1/s],
    ["the body of Connect", "connect", [head(`${rpc}Ping`, "Content-Type: application/proto", ...long)], /resource_exhausted/],
    [
      "an envelope of Connect",
      "connect",
      [Buffer.concat([Buffer.from(head(`${rpc}ListTools`, "Content-Type: application/connect+proto", "Content-Length: 100")), framed])],
      /resource_exhausted/,
    ],
    [
      "a message of gRPC-Web",
      "connect",
      [Buffer.concat([Buffer.from(head(`${rpc}Ping`, "Content-Type: application/grpc-web+proto", "Content-Length: 100")), framed])],
      /grpc-status: ?8/i,
    ],
  ];

  it.each(cases)("%s", async (_what, wire, bytes, refusal) => {
    await using listener = await listen(server(), wire);
    const before = process.memoryUsage().arrayBuffers;
    const text = await answered(portOf(listener.address), bytes, refusal);
    expect(text).toMatch(refusal);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 ** 2);
  });

  it("the body of HTTP+SSE", async () => {
    await using listener = await listen(server(), "sse");
    const { port, pathname, search } = new URL(await endpoint(listener.address));
    const bytes = [head(`${pathname}${search}`, "Content-Type: application/json", ...long)];
    expect(await answered(Number(port), bytes, / 413 /)).toMatch(/ 413 /);
  });
});

it("26: corrupt gzip over Connect fails its call, and the next is answered", async () => {
  await using listener = await listen(server(), "connect");
  const url = `http://127.0.0.1:${portOf(listener.address)}/mcp.v1.McpService/Ping`;
  const ping = (body: Uint8Array): Promise<Response> =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json", "content-encoding": "gzip" }, body: new Uint8Array(body) });
  const corrupt = gzipSync(`{"x":"${"hello".repeat(1000)}"}`);
  corrupt.fill(0xff, 20, 30);
  for (const bytes of [corrupt, corrupt.subarray(0, 15)]) expect((await ping(bytes)).status).toBeGreaterThanOrEqual(400);
  expect((await ping(gzipSync("{}"))).status).toBe(200);
});

it("12: the ids of sessions have 128 bits over HTTP and HTTP+SSE", async () => {
  const bits = (id: string | undefined): number => 8 * Buffer.from(id ?? "", "base64url").byteLength;
  await using http = await listen(server(), "http");
  await using sse = await listen(server(), "sse");
  expect(bits((await begin(http.address))["mcp-session-id"])).toBeGreaterThanOrEqual(128);
  expect(bits(/[?&][^=]+=([\w-]+)/.exec(await endpoint(sse.address))?.[1])).toBeGreaterThanOrEqual(128);
});
