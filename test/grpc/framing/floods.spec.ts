import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { grpcChannel, type Metadata } from "../../../src/io/index.js";
import { CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, hpack, PING, type Raw, RST_STREAM, raw, request, SETTINGS } from "./raw.js";
import { collect, echo, type Served, serve } from "./support.js";

const MOST = 64 << 20;

let served: Served;
let calls = 0;
let seen: Metadata[] = [];
beforeEach(async () => {
  calls = 0;
  seen = [];
  served = await serve((call) => {
    calls++;
    seen.push(call.metadata);
    return echo(call);
  });
});
afterEach(() => served.close());

/** Another client, before, while and after. */
async function neighbour(): Promise<void> {
  const channel = grpcChannel([{ host: "127.0.0.1", port: served.port }]);
  const call = channel.call("/t.T/M");
  call.send(Buffer.from("m"));
  call.done();
  expect((await collect(call)).messages.map(String)).toEqual(["m"]);
  await channel.close();
}

/** Writes one thing for as long as it is taken, up to `times`; resolves with the growth of memory when the server closed. */
async function flood(client: Raw, bytes: Buffer, times: number): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = 0;
  let open = true;
  void client.closed.then(() => {
    open = false;
  });
  for (let at = 0; at < times && open; at++) {
    const room = client.socket.write(bytes);
    if (!room) {
      await Promise.race([
        client.closed,
        new Promise((resolve) => client.socket.once("drain", resolve)),
        new Promise((resolve) => setTimeout(resolve, 1000).unref()),
      ]);
    } else if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  await client.closed;
  return most;
}

describe("row 27: odd heads", () => {
  const without = (name: string): (readonly [string, string])[] => request.filter(([each]) => each !== name);
  it.each([
    ["no :path", without(":path")],
    ["no :method", without(":method")],
    ["no :scheme", without(":scheme")],
    ["an empty :path", [...without(":path"), [":path", ""]]],
    ["a :path that is none", [...without(":path"), [":path", "*"]]],
    ["a pseudo-header that does not exist", [[":odd", "1"], ...request]],
    ["a response's pseudo-header", [[":status", "200"], ...request]],
    ["two paths", [[":path", "/other"], ...request]],
    ["a pseudo-header after the others", [...request.slice(1), [":method", "POST"]]],
    ["an upper-case name", [...request, ["X-Upper", "1"]]],
    ["a connection header", [...request, ["connection", "close"]]],
    ["nothing at all", []],
  ] as [string, [string, string][]][])("lives through %s", async (_, headers) => {
    const client = await raw(served.port);
    client.socket.write(client.frame(HEADERS, END_HEADERS | END_STREAM, 1, hpack(headers)));
    // Whatever it says to this one, the next is served; and this one never comes to the handler.
    await neighbour();
    expect(calls).toBe(1);
    client.socket.destroy();
    await client.closed;
  });

  it("drops a header with a line break in its value", async () => {
    const client = await raw(served.port);
    client.socket.write(client.frame(HEADERS, END_HEADERS | END_STREAM, 1, hpack([...request, ["x-a", "1\r\nx-b: 2"], ["x-c", "3"]])));
    await vi.waitFor(() => expect(seen.map((each) => ({ ...each }))).toEqual([{ "x-c": "3" }]));
    client.socket.destroy();
    await client.closed;
  });

  it("lives through a CONNECT and an OPTIONS", async () => {
    for (const method of ["CONNECT", "OPTIONS"]) {
      const client = await raw(served.port);
      const headers = request.map(([name, value]): [string, string] => [name, name === ":method" ? method : value]);
      client.socket.write(client.frame(HEADERS, END_HEADERS | END_STREAM, 1, hpack(headers)));
      await neighbour();
      client.socket.destroy();
      await client.closed;
    }
    expect(calls).toBe(2);
  });
});

describe("rows 28 and 29: floods", () => {
  it("row 28: closes a connection that resets calls as fast as it opens them, and serves the others", async () => {
    const client = await raw(served.port);
    const head = hpack(request);
    let id = 1;
    while (!client.socket.destroyed && !client.socket.closed && id < 40_000) {
      const pairs: Buffer[] = [];
      for (let at = 0; at < 100; at++, id += 2) {
        pairs.push(client.frame(HEADERS, END_HEADERS, id, head), client.frame(RST_STREAM, 0, id, Buffer.of(0, 0, 0, 8)));
      }
      client.socket.write(Buffer.concat(pairs));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await neighbour();
    await client.closed;
    expect(client.heard.some((each) => each.startsWith("GOAWAY"))).toBe(true);
    expect(calls).toBeLessThan(5000);
  });

  it("row 29: closes a connection that sends PINGs and reads no answers", async () => {
    const client = await raw(served.port, { reads: false });
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => client.frame(PING, 0, 0, Buffer.alloc(8))));
    expect(await flood(client, pings, 20_000)).toBeLessThan(MOST);
    await neighbour();
  });

  it("row 29: closes a connection that sends SETTINGS and reads no answers", async () => {
    const client = await raw(served.port, { reads: false });
    const settings = Buffer.concat(Array.from({ length: 1000 }, () => client.frame(SETTINGS, 0, 0, Buffer.of(0, 3, 0, 0, 0, 9))));
    expect(await flood(client, settings, 20_000)).toBeLessThan(MOST);
    await neighbour();
  });

  it("row 29: closes a connection whose header block never ends", async () => {
    const client = await raw(served.port);
    client.socket.write(client.frame(HEADERS, 0, 1, hpack(request)));
    const more = client.frame(
      CONTINUATION,
      0,
      1,
      Buffer.concat(Array.from({ length: 100 }, (_, at) => hpack([[`x-${at}`, "v".repeat(100)]]))),
    );
    expect(await flood(client, more, 20_000)).toBeLessThan(MOST);
    await neighbour();
    expect(calls).toBe(1);
  });

  it("closes a connection that sends empty frames without end", async () => {
    const client = await raw(served.port);
    client.socket.write(client.frame(HEADERS, END_HEADERS, 1, hpack(request)));
    const before = process.memoryUsage().rss;
    const empty = Buffer.concat(Array.from({ length: 1000 }, () => client.frame(DATA, 0, 1)));
    for (let at = 0; at < 200 && !client.socket.destroyed; at++) {
      client.socket.write(empty);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await neighbour();
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST);
    client.socket.destroy();
    await client.closed;
  });

  it("lets a client of ours go on after it cancelled thousands of calls", async () => {
    const channel = grpcChannel([{ host: "127.0.0.1", port: served.port }]);
    for (let at = 0; at < 3000; at++) {
      const call = channel.call("/t.T/M");
      call.cancel();
      if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const call = channel.call("/t.T/M");
    call.send(Buffer.from("m"));
    call.done();
    expect((await collect(call)).messages.map(String)).toEqual(["m"]);
    await channel.close();
  });
});
