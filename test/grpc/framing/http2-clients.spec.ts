import { once } from "node:events";
import { createServer, type Http2Server } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type Http2ClientSession,
  type Http2ClientStream,
  http2Client,
  nodeHttp2Client,
  type OpenHttp2,
  type OpenSocket,
} from "../../../src/io/http2/index.js";
import { END_HEADERS, END_STREAM, HEADERS, hpack, PING, RST_STREAM } from "./raw.js";
import {
  answer,
  begin,
  data,
  finish,
  frame,
  GOAWAY,
  headers,
  type RawServer,
  rawServer,
  setting,
  WINDOW_UPDATE,
  words,
} from "./raw-server.js";

const WINDOW = 256 * 1024;
const CANCEL = 8;
const REFUSED = 7;
const CALM = 11;
const FIRST_WINDOW = 4;
const CONCURRENT = 3;
const asked = [
  ":method",
  "POST",
  ":scheme",
  "http",
  ":authority",
  "here",
  ":path",
  "/t.T/M",
  "te",
  "trailers",
  "x-twice",
  "1",
  "x-twice",
  "2",
];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A stream with what it said, in order: words without numbers for data, which may come in pieces. */
interface Heard {
  readonly stream: Http2ClientStream;
  readonly log: string[];
  bytes: number;
}

interface Opened {
  readonly session: Http2ClientSession;
  readonly log: string[];
  ask(name?: string): Heard;
}

function dialled(client: OpenHttp2, port: number): Opened {
  const log: string[] = [];
  const open: OpenSocket = (read) => {
    const socket = connect({ port, host: "127.0.0.1" });
    return read === undefined ? socket : socket.on("data", read);
  };
  const session = client(open, {
    window: WINDOW,
    onReady: () => log.push("ready"),
    onGoaway: (code, said) => log.push(`goaway ${code} ${said}`.trimEnd()),
    onLost: () => log.push("lost"),
    onClose: () => log.push("closed"),
  });
  ends.push(() => session.destroy());
  return {
    session,
    log,
    ask(name = "") {
      const own: string[] = [];
      const say = (text: string): void => {
        own.push(text);
        if (name !== "") log.push(`${name} ${text}`);
      };
      const heard: { -readonly [member in keyof Heard]: Heard[member] } = { stream: undefined as never, log: own, bytes: 0 };
      heard.stream = session.request(asked, {
        onResponse: (fields) => say(`response ${fields[":status"]}`),
        onData: (bytes) => {
          heard.bytes += bytes.length;
          if (own.at(-1) !== "data") own.push("data");
        },
        onTrailers: (fields) => say(`trailers ${fields["grpc-status"]}`),
        onEnd: () => say("end"),
        onClose: (code, error, passed) => say(`close ${code}${error === undefined ? "" : " with an error"}${passed ? " passed" : ""}`),
      });
      return heard;
    },
  };
}

const settled = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 5 });
const has = (log: readonly string[], text: string): Promise<void> => settled(() => expect(log).toContain(text));

describe.each([
  ["own", http2Client],
  ["node", nodeHttp2Client],
] as const)("the HTTP/2 client %s", (_name, client) => {
  async function raw(
    serve: Parameters<typeof rawServer>[0],
    options?: Parameters<typeof rawServer>[1],
  ): Promise<Opened & { server: RawServer }> {
    const server = await rawServer(serve, options);
    ends.push(() => server.close());
    return { ...dialled(client, server.port), server };
  }
  async function nodes(serve: (server: Http2Server) => void): Promise<Opened> {
    const server = createServer();
    serve(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ends.push(() => server.close());
    return dialled(client, (server.address() as AddressInfo).port);
  }

  it("sends a request, and hears of the answer in order", async () => {
    let got: Record<string, unknown> = {};
    const { ask, log } = await nodes((server) =>
      server.on("stream", (stream, fields) => {
        got = fields;
        let body = "";
        stream.on("data", (chunk) => (body += chunk));
        stream.on("end", () => {
          stream.respond({ ":status": 200 }, { waitForTrailers: true });
          stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
          stream.end(body.repeat(20_000));
        });
      }),
    );
    const heard = ask();
    heard.stream.write(Buffer.from("he"));
    heard.stream.end(Buffer.from("llo"));
    await has(heard.log, "close 0");
    expect(heard.log).toEqual(["response 200", "data", "trailers 0", "end", "close 0"]);
    expect(heard.bytes).toBe(100_000);
    expect(got).toMatchObject({ ":path": "/t.T/M", "x-twice": "1, 2", te: "trailers" });
    expect(log).toEqual(["ready"]);
  });

  it("takes an answer that is headers alone", async () => {
    const { ask } = await raw(async (peer) => {
      peer.send(headers(await peer.request(0), [[":status", "404"]], END_HEADERS | END_STREAM));
    });
    const heard = ask();
    heard.stream.end();
    await has(heard.log, "close 0");
    expect(heard.log).toEqual(["response 404", "end", "close 0"]);
  });

  it("sends no more than the server's window, and says when the bytes are gone", async () => {
    const { ask, server } = await raw(
      async (peer) => {
        await peer.request(0);
      },
      { hello: setting([FIRST_WINDOW, 1000]) },
    );
    const { stream } = ask();
    const done = vi.fn();
    await settled(() => expect(server.peers[0]?.heard.some(({ type }) => type === HEADERS)).toBe(true));
    stream.write(Buffer.alloc(5000), done);
    const peer = server.peers[0] as NonNullable<(typeof server.peers)[0]>;
    await settled(() => expect(peer.received).toBe(1000));
    expect(done).not.toHaveBeenCalled();
    expect(stream.writableLength).toBeGreaterThan(0);
    peer.send(frame(WINDOW_UPDATE, 0, 1, words(10_000)));
    await settled(() => expect(peer.received).toBe(5000));
    await settled(() => expect(done).toHaveBeenCalledTimes(1));
  });

  it("lets a server send a window ahead of a reader that paused, and no more, while other streams go on", async () => {
    let written = 0;
    const { ask } = await nodes((server) =>
      server.on("stream", (stream, _fields) => {
        stream.respond({ ":status": 200 });
        if (stream.id !== 1) return void stream.end("quick");
        stream.on("error", () => {});
        const more = (): void => {
          while (!stream.destroyed && stream.write(Buffer.alloc(16_384))) written += 16_384;
          written += 16_384;
        };
        stream.on("drain", more);
        more();
      }),
    );
    const slow = ask();
    slow.stream.pause();
    const quick = ask();
    quick.stream.end();
    await has(quick.log, "close 0");
    await settled(() => expect(written).toBeGreaterThanOrEqual(WINDOW));
    let before = -1;
    await settled(() => {
      const now = written;
      const still = now === before;
      before = now;
      expect(still).toBe(true);
    });
    expect(written).toBeLessThan(2 * WINDOW);
    slow.stream.resume();
    await settled(() => expect(slow.bytes).toBeGreaterThan(8 * WINDOW));
    slow.stream.destroy();
  });

  it("cancels: the server hears of it, and nothing comes after", async () => {
    const { ask, server } = await raw(async (peer) => {
      const id = await peer.request(0);
      peer.send(begin(id));
      await peer.reset(id);
      peer.send(data(id, Buffer.from("late")), finish(id));
      peer.send(answer(await peer.request(1), "next"));
    });
    const heard = ask();
    await has(heard.log, "response 200");
    heard.stream.destroy();
    expect(heard.log.at(-1)).toBe(`close ${CANCEL}`);
    expect(await server.peers[0]?.reset(1)).toBe(CANCEL);
    const next = ask();
    next.stream.end();
    await has(next.log, "close 0");
    expect(heard.log).toEqual(["response 200", `close ${CANCEL}`]);
    expect(heard.stream.writable).toBe(false);
  });

  it.each([2, REFUSED, CALM])("tells the code %d of a reset", async (code) => {
    const { ask, log } = await raw(async (peer) => {
      const id = await peer.request(0);
      peer.send(begin(id), frame(RST_STREAM, 0, id, words(code)));
    });
    const heard = ask();
    await has(heard.log, `close ${code}`);
    expect(log).toEqual(["ready"]);
  });

  it("finishes what a leaving server has begun, and refuses the rest", async () => {
    const { ask, log, session } = await raw(async (peer) => {
      const id = await peer.request(1);
      peer.send(frame(GOAWAY, 0, 0, words(id - 2, 0)));
      await vi.waitFor(() => expect(log).toContain("goaway 0"));
      peer.send(answer(id - 2, "done"));
    });
    const [first, second] = [ask(), ask()];
    for (const { stream } of [first, second]) stream.end();
    await has(second.log, `close ${REFUSED} passed`);
    await has(first.log, "close 0");
    expect(session.closed).toBe(true);
    expect(() => ask()).toThrow("takes no more");
    await has(log, "closed");
    expect(log.filter((each) => each !== "ready")).toEqual(["goaway 0", "lost", "closed"]);
  });

  it("says why a server leaves that has had enough, before all else", async () => {
    const { ask, log } = await raw(async (peer) => {
      await peer.request(1);
      peer.send(frame(GOAWAY, 0, 0, Buffer.concat([words(0, CALM), Buffer.from("too_many_pings")])));
      peer.socket.end();
    });
    const streams = [ask("a"), ask("b")];
    for (const { stream } of streams) stream.end();
    await has(log, "closed");
    expect(log.filter((each) => each !== "ready")[0]).toBe(`goaway ${CALM} too_many_pings`);
    for (const { log: own } of streams) expect(own).toEqual([expect.stringMatching(`^close ${REFUSED}`)]);
  });

  it("tells streams that the connection is lost, and never of one that was sent that it was not", async () => {
    const { ask, log } = await raw(
      async (peer) => {
        await peer.request(0);
        await vi.waitFor(() => expect(log).toContain("ready"));
        peer.send(begin(1));
        await vi.waitFor(() => expect(log).toContain("a response 200"));
        peer.socket.destroy();
      },
      { hello: setting([CONCURRENT, 1]) },
    );
    await has(log, "ready");
    ask("a");
    ask("b");
    await has(log, "closed");
    const unsent = expect.stringMatching(`^b close (0|${REFUSED}) with an error`);
    expect(log).toEqual(["ready", "a response 200", "lost", "a close 0 with an error", unsent, "closed"]);
  });

  it("hears that there is nobody", async () => {
    const server = await rawServer(() => {});
    await server.close();
    const { log, ask } = dialled(client, server.port);
    const { log: own } = ask();
    await has(log, "closed");
    expect(log).toEqual(["lost", "closed"]);
    expect(own).toEqual([expect.stringMatching(`^close (0|${REFUSED}) with an error`)]);
  });

  it("pings, and hears if there is an answer", async () => {
    const { session, log, server } = await raw(async (peer) => {
      const ping = await vi.waitFor(() => peer.heard.find(({ type }) => type === PING) ?? Promise.reject(new Error("none")));
      peer.send(frame(PING, 1, 0, ping.payload));
    });
    await has(log, "ready");
    const pinged = (): Promise<Error | null> => new Promise((resolve) => session.ping(resolve));
    expect(await pinged()).toBe(null);
    const second = pinged();
    server.peers[0]?.socket.destroy();
    expect(await second).toBeInstanceOf(Error);
    await has(log, "closed");
    expect(await pinged()).toBeInstanceOf(Error);
  });

  it("holds back requests beyond those that the server takes at a time", async () => {
    const { ask, log, session, server } = await raw(() => {}, { hello: setting([CONCURRENT, 1]) });
    await has(log, "ready");
    expect(session.concurrent).toBe(1);
    const [first, second] = [ask(), ask()];
    for (const { stream } of [first, second]) stream.end();
    const peer = server.peers[0] as NonNullable<(typeof server.peers)[0]>;
    await peer.request(0);
    const requests = (): number => peer.heard.filter(({ type }) => type === HEADERS).length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests()).toBe(1);
    peer.send(answer(1, "x"));
    await has(first.log, "close 0");
    peer.send(answer(await peer.request(1), "x"));
    await has(second.log, "close 0");
  });

  it("does not take headers without end", async () => {
    const filler = hpack([["x-filler", "v".repeat(120)]]);
    const { ask, server } = await raw(async (peer) => {
      const id = await peer.request(0);
      const many = Buffer.concat(Array.from({ length: 120 }, () => filler));
      peer.send(frame(HEADERS, 0, id, Buffer.concat([hpack([[":status", "200"]]), many])));
      for (let at = 0; at < 20; at++) peer.send(frame(9, 0, id, many));
    });
    const heard = ask();
    await settled(() => expect(heard.log.at(-1)).toMatch(/^close [1-9]|^close 0 with an error/));
    expect(heard.log).toHaveLength(1);
    expect(server.peers.length).toBe(1);
  });

  it("closes when its last stream has, and cuts a server off that does not close its side", async () => {
    const { ask, log, session } = await raw(
      async (peer) => {
        const id = await peer.request(0);
        await vi.waitFor(() => expect(session.closed).toBe(true));
        peer.send(answer(id, "x"));
      },
      { lingers: true },
    );
    const heard = ask();
    heard.stream.end();
    await settled(() => expect(log).toContain("ready"));
    session.close();
    await has(heard.log, "close 0");
    await has(log, "closed");
    expect(session.destroyed).toBe(true);
  });
});
