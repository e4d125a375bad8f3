import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Canceller } from "../../core/index.js";
import { type HttpClient, httpClient } from "../http/request.js";
import { Silence } from "../http/silence.js";
import { HttpConnections, type WaitingRequest } from "./connections.js";
import { sendOwn } from "./send.js";

let server: Server;
let url: URL;
let client: HttpClient;
/** HttpConnections in the order they came, and the one of each request. */
let sockets: Socket[];
let used: number[];
/** Answers that wait for the test. */
let held: (() => void)[];

beforeEach(async () => {
  sockets = [];
  used = [];
  held = [];
  server = createServer((incoming, response) => {
    used.push(sockets.indexOf(incoming.socket));
    if (incoming.url === "/held") held.push(() => response.end("at last"));
    else if (incoming.url === "/close") response.writeHead(200, { connection: "close" }).end("bye");
    else response.end("here");
    incoming.resume();
  });
  server.on("connection", (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  client = httpClient();
});
afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  vi.useRealTimers();
});

async function get(path = "/", cancel?: Canceller): Promise<string> {
  const sent = await client.send("GET", new URL(path, url), { headers: {}, ...(cancel === undefined ? undefined : { cancel }) });
  return sent.text(1000);
}
/** A connection is free a moment after its answer was read. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("connections that are kept", () => {
  it("carry one request after another", async () => {
    for (let at = 0; at < 5; at++) {
      expect(await get()).toBe("here");
      await settled();
    }
    expect(used).toEqual([0, 0, 0, 0, 0]);
  });

  it("are as many as there are requests at a time, and all are used again", async () => {
    const eight = (): Promise<string[]> => Promise.all(Array.from({ length: 8 }, () => get()));
    await eight();
    await settled();
    await eight();
    expect(sockets).toHaveLength(8);
    expect(new Set(used.slice(8)).size).toBe(8);
  });

  it("that the server closes are not used again, and their end throws nothing", async () => {
    await get();
    await settled();
    const closed = new Promise((resolve) => sockets[0]?.once("close", resolve));
    sockets[0]?.resetAndDestroy();
    await closed;
    await vi.waitFor(async () => expect(await get()).toBe("here"));
    await settled();
    expect(await get("/close")).toBe("bye");
    await settled();
    expect(await get()).toBe("here");
    expect(used).toEqual([0, 1, 1, 2]);
  });

  it("are not used when the server may be closing them", async () => {
    server.keepAliveTimeout = 5_000;
    vi.useFakeTimers({ toFake: ["Date"] });
    await get();
    await settled();
    vi.setSystemTime(Date.now() + 3_000);
    await get();
    await settled();
    vi.setSystemTime(Date.now() + 4_500);
    await get();
    expect(used).toEqual([0, 0, 1]);
  });

  it("are not used after 4 seconds if the server does not say how long it keeps them", async () => {
    // Node's server then sends no Keep-Alive header of its own.
    server.prependListener("request", (_, response) => void response.setHeader("connection", "keep-alive"));
    vi.useFakeTimers({ toFake: ["Date"] });
    await get();
    await settled();
    vi.setSystemTime(Date.now() + 3_500);
    await get();
    await settled();
    vi.setSystemTime(Date.now() + 4_500);
    await get();
    expect(used).toEqual([0, 0, 1]);
  });

  it("are closed when nothing has used them for long, though others are in use", async () => {
    server.keepAliveTimeout = 600_000;
    vi.useFakeTimers({ toFake: ["Date"] });
    await Promise.all([get(), get(), get()]);
    await settled();
    for (let at = 0; at < 3; at++) {
      vi.setSystemTime(Date.now() + 40_000);
      await get();
      await settled();
    }
    expect(sockets).toHaveLength(3);
    await vi.waitFor(() => expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(1));
  });

  it("are cut with a request that is given up, and no other", async () => {
    const cancel = new Canceller();
    const given = get("/held", cancel);
    const other = get("/held");
    await vi.waitFor(() => expect(held).toHaveLength(2));
    cancel.fire();
    await expect(given).rejects.toMatchObject({ code: "unavailable" });
    for (const answer of held) answer();
    expect(await other).toBe("at last");
  });

  it("have a limit, beyond which requests wait in turn; one that is given up meanwhile harms nobody", async () => {
    const connections = new HttpConnections({ most: 2, kept: 1 });
    const silence = new Silence({ deadMs: Number.POSITIVE_INFINITY });
    const send = async (path: string, cancel?: Canceller): Promise<string> => {
      const options = { headers: {}, ...(cancel === undefined ? undefined : { cancel }) };
      return (await sendOwn("GET", new URL(path, url), options, { connections, silence })).text(1000);
    };
    const first = [send("/held"), send("/held")];
    await vi.waitFor(() => expect(held).toHaveLength(2));
    const cancel = new Canceller();
    const given = expect(send("/", cancel)).rejects.toThrow();
    cancel.fire();
    const behind = [send("/"), send("/")];
    await settled();
    expect(used).toHaveLength(2);
    for (const answer of held) answer();
    expect(await Promise.all([...first, ...behind])).toEqual(["at last", "at last", "here", "here"]);
    await given;
    expect(sockets).toHaveLength(2);
    // One is kept, the other let go.
    await vi.waitFor(() => expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(1));
    connections.destroy();
    await vi.waitFor(() => expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(0));
  });

  it("have a reserve for urgent requests, which no other request gets", async () => {
    const connections = new HttpConnections({ most: 1 });
    const silence = new Silence({ deadMs: Number.POSITIVE_INFINITY });
    const send = async (path: string, urgent?: boolean): Promise<string> => {
      const options = { headers: {}, ...(urgent === undefined ? undefined : { urgent }) };
      return (await sendOwn("GET", new URL(path, url), options, { connections, silence })).text(1000);
    };
    const first = send("/held");
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const behind = send("/");
    expect(await send("/", true)).toBe("here");
    await vi.waitFor(() => expect(sockets[1]?.destroyed).toBe(true));
    // More of them than the reserve has connections: they wait for each other alone.
    expect(await Promise.all(Array.from({ length: 80 }, () => send("/", true)))).toEqual(Array.from({ length: 80 }, () => "here"));
    expect(sockets.length).toBeLessThanOrEqual(2 + 80);
    expect(used.filter((socket) => socket === 0)).toHaveLength(1);
    held[0]?.();
    expect(await Promise.all([first, behind])).toEqual(["at last", "here"]);
    connections.destroy();
  });

  it("that are all busy hold nothing of the requests that were given up while they waited", async () => {
    const connections = new HttpConnections({ most: 1, kept: 1 });
    const place = { host: url.hostname, port: Number(url.port) };
    const asked: string[] = [];
    const waiting = (name: string): WaitingRequest => ({
      onConnection: () => void asked.push(name),
      destroy: () => void asked.push(`${name} ended`),
    });
    connections.take(place, waiting("first"));
    const [left, stays] = [waiting("left"), waiting("stays")];
    connections.take(place, left);
    connections.take(place, stays);
    connections.forget(place, left);
    connections.destroy();
    expect(asked).toEqual(["first", "stays ended"]);
  });

  it("that cannot be made fail their request alone", async () => {
    await expect(client.send("GET", new URL("http://127.0.0.1:1/"), { headers: {} })).rejects.toMatchObject({
      code: "unavailable",
      data: { reason: "ECONNREFUSED" },
    });
    expect(await get()).toBe("here");
  });
});
