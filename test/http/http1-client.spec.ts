import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerHeaderBytes, Canceller } from "../../src/core/index.js";
import { type HttpClient, httpClient } from "../../src/io/http/request.js";

/** A server on a bare socket. It answers each request with what the test says, in the pieces that the test says. */
let server: Server;
let url: URL;
let client: HttpClient;
let sockets: Socket[];
/** What came on each connection. */
let heard: string[];
let answer: (socket: Socket, count: number) => void;

beforeEach(async () => {
  sockets = [];
  heard = [];
  server = createServer({ noDelay: true }, (socket) => {
    const at = sockets.push(socket) - 1;
    heard[at] = "";
    let count = 0;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      heard[at] += bytes.toString("utf8");
      // One request at a time, each with an empty line and a small body.
      if (!/\r\n\r\n[^\r]*$/.test(heard[at] ?? "")) return;
      answer(socket, count++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?a=1`);
  client = httpClient();
});
afterEach(async () => {
  client.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

async function ask(body = "{}", headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const sent = await client.send("POST", url, { headers, body });
  return { status: sent.status, text: await sent.text(10_000_000) };
}

/** The same request by `node:http`. */
function askNode(): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text })).once("error", reject);
    });
    sent.once("error", reject).end("{}");
  });
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe("answers that Node's own parser reads, too", () => {
  const cases: [string, string, kept: boolean][] = [
    ["with a length", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", true],
    ["without a reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", true],
    ["with nothing behind the status", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", true],
    ["in chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nhel\r\n0002\r\nlo\r\n0\r\n\r\n", true],
    [
      "in chunks, said twice",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      true,
    ],
    [
      "in chunks with extensions and trailers",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx: y\r\nz: w\r\n\r\n",
      true,
    ],
    ["in chunks that hold line ends", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nA\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", true],
    ["up to the end of the connection", "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nhello", false],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", false],
    ["of HTTP/1.0 on a connection that is kept", "HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 5\r\n\r\nhello", true],
    ["on a connection that is not kept", "HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 5\r\n\r\nhello", false],
    [
      "after interim ones",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
      true,
    ],
    ["without a body, whatever its headers say", "HTTP/1.1 204 No Content\r\n\r\n", true],
    ["after an empty line", "\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", true],
    ["with text that is not ASCII", "HTTP/1.1 200 OK\r\nx: \u00e9\r\ncontent-length: 6\r\n\r\n€€", true],
  ];
  it.each(cases)("%s", async (_, raw, kept) => {
    const bytes = Buffer.from(raw, "utf8");
    answer = (socket) => (kept ? socket.write(bytes) : socket.end(bytes));
    const got = await ask();
    expect(got).toEqual(await askNode());
    await settled();
    expect(await ask()).toEqual(got);
    // One of these is that of Node.
    expect(sockets).toHaveLength(kept ? 2 : 3);
  });

  it.each(cases)("%s, one byte at a time", async (_, raw, kept) => {
    const bytes = Buffer.from(raw, "utf8");
    answer = async (socket) => {
      for (const byte of bytes) {
        socket.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!kept) socket.end();
    };
    expect(await ask()).toEqual(await askNode());
  });

  it("of many sizes of chunks, cut anywhere", async () => {
    const pieces = Array.from({ length: 60 }, (_, at) => "x".repeat(at * at + 1));
    const raw = Buffer.from(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("")}0\r\n\r\n`,
    );
    for (const step of [1000, 4093, 7919]) {
      answer = async (socket) => {
        for (let at = 0; at < raw.length; at += step) {
          socket.write(raw.subarray(at, at + step));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      expect((await ask()).text).toBe(pieces.join(""));
      await settled();
    }
    expect(sockets).toHaveLength(1);
  });
});

describe("answers that break the rules", () => {
  const cases: [string, string][] = [
    ["something else", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["another version", "HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"],
    ["the same length twice", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nContent-Length: 5\r\n\r\nhello"],
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello"],
    ["an unknown coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\ncontent-length: 0\r\n\r\n"],
    ["a blank before the colon", "HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n"],
    ["a line end alone", "HTTP/1.1 200 OK\r\nx: a\nb: c\r\ncontent-length: 0\r\n\r\n"],
    ["a line end alone behind the status", "HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n"],
    ["a control character before a length", "HTTP/1.1 200 OK\r\ncontent-length: \v0\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["another protocol that says much", "x".repeat(20_000)],
  ];
  it.each(cases)("%s", async (_, raw) => {
    answer = (socket) => socket.write(raw);
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("does not speak HTTP") });
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect(await ask()).toEqual({ status: 200, text: "ok" });
  });

  it.each([
    ["a chunk that is longer than it says", "2\r\nhello\r\n0\r\n\r\n"],
    ["a length of a chunk that is no number", "xyz\r\nhello\r\n0\r\n\r\n"],
    ["an endless line before a chunk", `5;${"a".repeat(2000)}`],
    ["a line end alone in a trailer", "0\r\na: b\n\r\n"],
    ["a line end alone before a trailer", "0\r\n\n\r\n"],
  ])("%s", async (_, raw) => {
    answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${raw}`);
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", data: { reason: "closed" } });
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
  });

  const max = answerHeaderBytes.http1;
  it.each([
    ["a head without end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}`],
    ["a head that is too long", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(max)}\r\ncontent-length: 0\r\n\r\n`],
    ["endless trailers", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${"a: b\r\n".repeat(4000)}`],
    ["a trailer without end", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: ${"b".repeat(20_000)}`],
  ])("%s: the fault names the limit", async (_, raw) => {
    answer = (socket) => socket.write(raw);
    await expect(ask()).rejects.toMatchObject({ code: "overload", data: { limit: "headerBytes", max } });
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect(await ask()).toEqual({ status: 200, text: "ok" });
  });

  it("a body that is cut", async () => {
    answer = (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello");
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", message: "the server closed the connection" });
    answer = (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", message: "the server closed the connection" });
  });

  it("no answer at all", async () => {
    answer = (socket) => socket.end();
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", data: { reason: "ECONNRESET" } });
  });

  it("a connection that ends right behind an answer, though that does not say so", async () => {
    answer = (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    for (let at = 0; at < 20; at++) expect(await ask()).toEqual({ status: 200, text: "ok" });
  });

  it("an answer that nobody asked for is not that of the next request", async () => {
    const one = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    answer = (socket) => socket.write(one("mine") + one("injected"));
    expect((await ask()).text).toBe("mine");
    answer = (socket) => socket.write(one("second"));
    expect((await ask()).text).toBe("second");
    expect(sockets).toHaveLength(2);
    await settled();
    sockets[1]?.write(one("late"));
    await vi.waitFor(() => expect(sockets[1]?.destroyed).toBe(true));
    expect((await ask()).text).toBe("second");
  });

  it("a length beside chunks: the chunks count, and the connection is not used again", async () => {
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    expect((await ask()).text).toBe("hello");
    expect((await ask()).text).toBe("hello");
    expect(sockets).toHaveLength(2);
  });
});

describe("requests", () => {
  beforeEach(() => {
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  });

  it("have the form that every server knows", async () => {
    await ask('{"a":"é"}', { accept: "x/y" });
    expect(heard[0]).toBe(
      `POST /mcp?a=1 HTTP/1.1\r\nconnection: keep-alive\r\naccept: x/y\r\nhost: ${url.host}\r\ncontent-length: 10\r\n\r\n{"a":"é"}`,
    );
  });

  it("name another host, and the user of a URL, where they are told to", async () => {
    url.username = "me";
    url.password = "p%40ss";
    await ask("{}", { Host: "elsewhere" });
    expect(heard[0]).toContain("\r\nHost: elsewhere\r\n");
    expect(heard[0]?.match(/host:/gi)).toHaveLength(1);
    expect(heard[0]).toContain(`\r\nauthorization: Basic ${Buffer.from("me:p@ss").toString("base64")}\r\n`);
  });

  it("are refused if their address has a user that cannot be read", async () => {
    url.password = "50%off";
    await expect(ask()).rejects.toMatchObject({ code: "invalid-params", message: expect.not.stringContaining("50%off") });
  });

  it.each([
    ["a line end in a value", { x: "a\r\nevil: 1" }],
    ["a zero in a value", { x: "a\0" }],
    ["what latin1 does not have", { x: "€" }],
    ["a line end in a name", { "x\r\nevil": "1" }],
  ])("are refused with %s, before anything is sent", async (_, headers) => {
    await expect(ask("{}", headers as Record<string, string>)).rejects.toMatchObject({ code: "invalid-params" });
    expect(heard).toEqual([]);
  });

  it("are not framed by headers of the caller", async () => {
    await ask("{}", { "Content-Length": "0", "transfer-encoding": "chunked", connection: "close" });
    expect(heard[0]).toMatch(/content-length: 2\r\n\r\n\{\}$/);
    expect(heard[0]).not.toMatch(/chunked|close/);
  });
});

describe("large answers", () => {
  it("wait for their reader, and go on when it reads", async () => {
    const size = 64 * 1024 * 1024;
    let written = 0;
    answer = async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
      const piece = Buffer.alloc(64 * 1024, 7);
      const closed = once(socket, "close");
      for (; written < size && !socket.destroyed; written += piece.length)
        if (!socket.write(piece)) await Promise.race([once(socket, "drain"), closed]);
    };
    const sent = await client.send("POST", url, { headers: {}, body: "{}" });
    let before = -1;
    // Once the buffers of both ends are full, nothing more is written.
    await vi.waitFor(
      () => {
        const now = written;
        const same = now === before;
        before = now;
        expect(same).toBe(true);
      },
      { interval: 200, timeout: 10_000 },
    );
    expect(written).toBeLessThan(size / 2);
    let read = 0;
    for await (const piece of sent.body) read += piece.length;
    expect(read).toBe(size);
    await settled();
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect((await ask()).text).toBe("ok");
    expect(sockets).toHaveLength(1);
  });

  it("that are left close their connection, and so does a request that is given up", async () => {
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
    const sent = await client.send("POST", url, { headers: {}, body: "{}" });
    for await (const piece of sent.body) {
      expect(Buffer.from(piece).toString()).toBe("hello");
      break;
    }
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    const cancel = new Canceller();
    const open = await client.send("POST", url, { headers: {}, body: "{}", cancel });
    const reading = open.text(100);
    cancel.fire();
    await expect(reading).rejects.toMatchObject({ code: "unavailable" });
    await vi.waitFor(() => expect(sockets[1]?.destroyed).toBe(true));
  });

  it("that are larger than allowed are refused, and their connection is closed", async () => {
    answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${"x".repeat(50_000)}`);
    const sent = await client.send("POST", url, { headers: {}, body: "{}" });
    await expect(sent.text(1000)).rejects.toMatchObject({ code: "overload", data: { limit: "messageBytes" } });
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
  });
});

it("ends the requests that wait for a connection when it is closed", async () => {
  answer = () => {};
  const open = Array.from({ length: 1030 }, () => ask().catch((error: unknown) => error));
  await vi.waitFor(() => expect(sockets).toHaveLength(1024), { timeout: 20_000 });
  client.close();
  for (const ended of await Promise.all(open)) expect(ended).toMatchObject({ code: "unavailable" });
  await settled();
  expect(sockets).toHaveLength(1024);
}, 30_000);
