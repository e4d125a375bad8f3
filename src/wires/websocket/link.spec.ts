import { expect, it } from "vitest";
import { Fault } from "../../core/index.js";
import { type Socket, socketLink } from "./link.js";

type Event = { readonly data?: unknown; readonly code?: number; readonly reason?: string };

/** A page's own socket: it cannot be paused, and its `close` accepts few codes. */
class PageSocket implements Socket {
  readonly bufferedAmount = 0;
  readonly readyState = 1;
  readonly closes: unknown[] = [];
  readonly #listeners = new Map<string, (event: Event) => void>();

  send(): void {}

  close(code?: number, reason?: string): void {
    if (code !== undefined && code !== 1000 && (code < 3000 || code > 4999)) throw new Error(`InvalidAccessError: ${code}`);
    this.closes.push([code, reason]);
  }

  addEventListener(type: string, listener: (event: Event) => void): void {
    this.#listeners.set(type, listener);
  }

  receives(data: unknown): void {
    this.#listeners.get("message")?.({ data });
  }
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

it("ends in a page when more comes than is read, and names the limit", async () => {
  const socket = new PageSocket();
  const { incoming } = socketLink(socket, { connectionBytes: 3 * ping.length });
  const messages = incoming[Symbol.asyncIterator]();
  for (let count = 0; count < 4; count++) socket.receives(ping);
  for (let count = 0; count < 3; count++) expect((await messages.next()).value).toMatchObject([{ kind: "request" }]);
  const data = { limit: "connectionBytes", max: 3 * ping.length };
  await expect(messages.next()).rejects.toMatchObject({ code: "overload", data });
  expect(socket.closes).toEqual([[4009, "the peer sends more than is read"]]);
});

it("ends in a page at a message that is too large", async () => {
  const socket = new PageSocket();
  const { incoming } = socketLink(socket, { messageBytes: 10 });
  socket.receives(ping);
  await expect(incoming[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "overload",
    data: { limit: "messageBytes", max: 10 },
  });
  expect(socket.closes).toHaveLength(1);
});

it("closes a page's socket with codes that it accepts", async () => {
  const binary = new PageSocket();
  const broken = socketLink(binary);
  binary.receives(new Uint8Array(3));
  await expect(broken.incoming[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "invalid-request" });
  expect(binary.closes).toEqual([[4003, "binary frames are not messages"]]);
  const left = new PageSocket();
  await socketLink(left).close(new Fault("unavailable", "the page closes", { data: { reason: "closing" } }));
  expect(left.closes).toEqual([[4001, "the page closes"]]);
});
