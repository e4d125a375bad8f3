import { connect as connectTcp } from "node:net";
import { expect, test, vi } from "vitest";
import { serve } from "../../src/api/index.js";
import { type Context, once, type Service } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { initialize, json } from "./requests.js";

/** A service that never says what it is. */
function silent(): Service & { readonly asked: Context[] } {
  const asked: Context[] = [];
  return {
    asked,
    call(_request, context) {
      asked.push(context);
      return once(context, () => new Promise(() => {}));
    },
    notify: () => Promise.resolve(),
  };
}

test.each([
  ["in one piece", (head: string, body: string) => [head + body]],
  ["in three pieces", (head: string, body: string) => [head, body.slice(0, 10), body.slice(10)]],
])("a client that leaves before its session has begun leaves nothing behind: a request %s", async (_, cut) => {
  const service = silent();
  await using listener = await serve(service, "http://127.0.0.1:0", { drainMs: 100 });
  const body = JSON.stringify(initialize());
  const headers = Object.entries({ ...json, host: "localhost", "content-length": String(body.length) });
  const head = `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const socket = connectTcp(Number(new URL(listener.address).port), "127.0.0.1");
  for (const piece of cut(head, body)) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await vi.waitFor(() => expect(service.asked.length).toBe(1), patience);
  socket.destroy();
  await vi.waitFor(() => expect(service.asked[0]?.cancel.fired).toBe(true), patience);
  expect(service.asked[0]?.client.identity.ended.fired).toBe(true);
});
