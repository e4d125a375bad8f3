import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bytesValue, connectClient, connectServer } from "./connect.js";
import { grpcJsClient, grpcJsServer } from "./grpc-js.js";
import { ourClient, ourServer } from "./ours.js";
import { bytes, type Call, type Client, type End, HARD_MESSAGE, type Server, text } from "./types.js";

interface Pair {
  readonly name: string;
  serve(): Promise<Server>;
  dial(port: number): Client;
}

const pairs: readonly Pair[] = [
  { name: "our client, our server", serve: () => ourServer(), dial: (port) => ourClient(port) },
  { name: "grpc-js client, our server", serve: () => ourServer(), dial: grpcJsClient },
  { name: "our client, grpc-js server", serve: () => grpcJsServer(), dial: (port) => ourClient(port) },
  { name: "our client on node:http2, grpc-js server", serve: () => grpcJsServer(), dial: (port) => ourClient(port, undefined, "node") },
  { name: "our client on node:http2, connect server", serve: connectServer, dial: (port) => ourClient(port, bytesValue, "node") },
  { name: "connect client, our server", serve: () => ourServer(bytesValue), dial: connectClient },
  { name: "our client, connect server", serve: connectServer, dial: (port) => ourClient(port, bytesValue) },
];

async function run(call: Call, ...messages: readonly Uint8Array[]): Promise<{ answers: Uint8Array[]; end: End }> {
  for (const message of messages) call.send(message);
  call.done();
  const answers: Uint8Array[] = [];
  for await (const message of call.messages) answers.push(message);
  return { answers, end: await call.end };
}

describe.each(pairs)("$name", ({ serve, dial }) => {
  let server: Server;
  let client: Client;
  beforeAll(async () => {
    server = await serve();
    client = dial(server.port);
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  it("makes a unary call", async () => {
    const { answers, end } = await run(client.call("Same"), bytes("hello"));
    expect(answers.map(text)).toEqual(["hello"]);
    expect(end).toMatchObject({ code: 0 });
  });

  it("carries an empty message", async () => {
    const { answers } = await run(client.call("Same"), new Uint8Array());
    expect(answers.map((answer) => answer.length)).toEqual([0]);
  });

  it("carries text, binary and repeated metadata, there and back in headers and trailers", async () => {
    const metadata = { "x-say": ["one", "two"], "x-say-bin": ["AAEC/w", "+/8"], "x-say-comma": ["a,b"] };
    const { end } = await run(client.call("Same", { metadata }), bytes("m"));
    for (const got of [end.headers, end.trailers]) {
      // Some peers give values that are text as Node joined them.
      expect(got["x-say"]?.join(", ")).toBe("one, two");
      expect(got["x-say-bin"]).toEqual(["AAEC/w", "+/8"]);
      expect(got["x-say-comma"]).toEqual(["a,b"]);
    }
  });

  it("carries a status with its message and trailers", async () => {
    const { answers, end } = await run(client.call("Fail"), bytes("m"));
    expect(answers).toEqual([]);
    expect(end).toMatchObject({ code: 9, message: HARD_MESSAGE });
    expect(end.trailers["x-why-bin"]).toEqual(["AAEC"]);
  });

  it("says UNIMPLEMENTED for a method that is not there", async () => {
    const { end } = await run(client.call("Missing"), bytes("m"));
    expect(end.code).toBe(12);
  });

  it("streams to the server", async () => {
    const { answers } = await run(client.call("Join"), bytes("a"), bytes("b"), bytes("c"));
    expect(answers.map(text)).toEqual(["abc"]);
  });

  it("streams from the server", async () => {
    const { answers, end } = await run(client.call("Count"), bytes("2500"));
    expect(answers.map(text)).toEqual(Array.from({ length: 2500 }, (_, at) => String(at)));
    expect(end.code).toBe(0);
  });

  it("streams both ways, one answer at a time and many", async () => {
    const call = client.call("Chat");
    const answers = call.messages[Symbol.asyncIterator]();
    for (let at = 0; at < 10; at++) {
      call.send(bytes(`m${at}`));
      expect(text((await answers.next()).value as Uint8Array)).toBe(`m${at}`);
    }
    for (let at = 0; at < 2000; at++) call.send(bytes(`n${at}`));
    call.done();
    for (let at = 0; at < 2000; at++) expect(text((await answers.next()).value as Uint8Array)).toBe(`n${at}`);
    expect((await answers.next()).done).toBe(true);
    expect((await call.end).code).toBe(0);
  });

  it("carries 8 MB both ways", async () => {
    const message = randomBytes(8_000_000);
    const { answers } = await run(client.call("Same"), message);
    expect(answers.map((answer) => message.equals(answer))).toEqual([true]);
  });

  it("compresses with gzip", async () => {
    const message = bytes("all work and no play ".repeat(50_000));
    const call = client.call("Chat", { gzip: true });
    const { answers, end } = await run(call, message, bytes("small"), message);
    expect(end).toMatchObject({ code: 0 });
    expect(answers.map((answer) => answer.length)).toEqual([message.length, 5, message.length]);
    expect(message.every((byte, at) => answers[2]?.[at] === byte)).toBe(true);
  });

  it("ends at the deadline, and the server hears of it", async () => {
    const { began, cancelled } = server.hanging;
    const { end } = await run(client.call("Hang", { timeoutMs: 200 }), bytes("m"));
    expect(end.code).toBe(4);
    await vi.waitFor(() => expect(server.hanging).toEqual({ began: began + 1, cancelled: cancelled + 1 }));
  });

  it("tells the server of a cancellation", async () => {
    const { began, cancelled } = server.hanging;
    const call = client.call("Hang");
    call.send(bytes("m"));
    await vi.waitFor(() => expect(server.hanging.began).toBe(began + 1));
    call.cancel();
    expect((await call.end).code).toBe(1);
    await vi.waitFor(() => expect(server.hanging.cancelled).toBe(cancelled + 1));
  });

  it("makes many calls at once", async () => {
    const calls = Array.from({ length: 500 }, (_, at) => run(client.call("Same"), bytes(String(at))));
    expect((await Promise.all(calls)).map(({ answers }) => answers.map(text).join())).toEqual(calls.map((_, at) => String(at)));
  });
});
