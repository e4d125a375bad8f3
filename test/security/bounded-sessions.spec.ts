import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createServer, type Layer, type Limits, layered, once, serve } from "../../src/api/index.js";
import { heldBytes, resultOf } from "../../src/core/index.js";
import { begin, initialize, json, post } from "../http/requests.js";
import { MIB, until } from "./bounded.js";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

describe("messages that come before the session is open", () => {
  /** A server that is not known until `open()`, as one behind a bridge that starts slowly. */
  async function slow(limits: Partial<Limits>): Promise<AsyncDisposable & { readonly port: number; open(): void }> {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const wait: Layer = (inner) => ({
      call: (request, context) =>
        request.method === "server/discover"
          ? once(context, async (within) => {
              await opened;
              return resultOf(inner.call(request, within));
            })
          : inner.call(request, context),
      notify: (notification, context) => inner.notify(notification, context),
    });
    const server = createServer({ name: "slow", version: "1" }).tool("echo", {}, ({ text }) => String(text).slice(0, 8));
    const listener = await serve(layered(server, wait), "tcp://127.0.0.1:0", { limits, drainMs: 0 });
    return { port: Number(new URL(listener.address).port), open, [Symbol.asyncDispose]: () => listener.close() };
  }

  interface Heard {
    readonly socket: Socket;
    readonly answers: {
      readonly id: number | string;
      readonly result?: object;
      readonly error?: { readonly data?: { readonly limit?: string } };
    }[];
  }

  function client(port: number): Heard {
    const socket = createConnection(port, "127.0.0.1");
    sockets.push(socket);
    const answers: Heard["answers"] = [];
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      answers.push(...lines.map((line) => JSON.parse(line) as Heard["answers"][number]));
    });
    socket.write(`${JSON.stringify(initialize())}\n`);
    return { socket, answers };
  }

  const call = (id: number, text: string): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text } } })}\n`;

  it("are kept up to 64 and answered in their order; the rest is refused", async () => {
    await using at = await slow({});
    const { socket, answers } = client(at.port);
    socket.write(Array.from({ length: 100 }, (_, n) => call(100 + n, "early")).join(""));
    await until(() => answers.length === 36);
    for (const { error } of answers) expect(error?.data).toEqual({ limit: "opening", max: 64 });
    at.open();
    await until(() => answers.length === 101);
    expect(answers[36]).toMatchObject({ id: "init", result: {} });
    // The client has not said that it is ready: they are told so, in their order.
    expect(answers.slice(37).map(({ id }) => id)).toEqual(Array.from({ length: 64 }, (_, n) => 100 + n));
  });

  it("count for their client, and are free when it has gone", async () => {
    await using at = await slow({ connectionBytes: 0.5 * MIB });
    const { socket, answers } = client(at.port);
    for (let n = 0; n < 60; n++) socket.write(call(100 + n, "x".repeat(10_000)));
    await until(() => answers.length > 10);
    for (const { error } of answers) expect(error?.data?.limit).toBe("opening");
    expect(heldBytes()).toBeGreaterThan(0.4 * MIB);
    expect(heldBytes()).toBeLessThanOrEqual(0.5 * MIB + 64 * 1024);
    socket.destroy();
    await until(() => heldBytes() === 0);
  });
});

it("keeps and counts the streams of a session that its client does not come back for, 32 that have ended at most", async () => {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let running = 0;
  const server = createServer({ name: "waits", version: "1" }).tool("wait", {}, async () => {
    running++;
    await finished;
    running--;
    return "done";
  });
  await using listener = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
  const headers = await begin(listener.address);
  await until(() => heldBytes() < 16 * 1024);
  const idle = heldBytes();
  const gone = new AbortController();
  for (let id = 100; id < 200; id++)
    fetch(listener.address, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "wait" } }),
      signal: gone.signal,
    }).catch(() => {});
  await until(() => running === 100);
  gone.abort();
  // The requests have gone, which counted more than 4 KiB each. What is left is a call of 4 KiB, and a stream to come back to.
  await until(() => heldBytes() < idle + 100 * 6 * 1024);
  expect(heldBytes()).toBeGreaterThan(idle + 100 * 5 * 1024);
  finish();
  await until(() => heldBytes() < idle + 40 * 1024);
  expect(running).toBe(0);
  expect(heldBytes()).toBeGreaterThan(idle + 30 * 1024);
  await post(listener.address, { jsonrpc: "2.0", id: 1, method: "ping" }, headers);
  await fetch(listener.address, { method: "DELETE", headers: { ...json, ...headers } });
  await until(() => heldBytes() === 0);
});
