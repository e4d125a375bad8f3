import { expect, test } from "vitest";
import { createServer, elicit, type Fault, serve } from "../../src/api/index.js";
import { call, events, initialize, LEGACY, post, type Rpc } from "./requests.js";

const asker = createServer({ name: "asker", version: "1" }).tool("ask", {}, async function* () {
  const { action } = yield* elicit({ message: "who?", requestedSchema: { type: "object", properties: {} } });
  return action;
});

/** The first message of a stream that fits. */
async function found(stream: AsyncGenerator<{ readonly message: Rpc | undefined }>, fits: (message: Rpc) => boolean): Promise<Rpc> {
  for (;;) {
    const step = await stream.next();
    if (step.done === true) throw new Error("the stream has ended");
    if (step.value.message !== undefined && fits(step.value.message)) return step.value.message;
  }
}

const unreadable: readonly [string, (id: unknown) => string][] = [
  ["a result that is not an object", (id) => JSON.stringify({ jsonrpc: "2.0", id, result: "accept" })],
  ["neither a result nor an error", (id) => JSON.stringify({ jsonrpc: "2.0", id })],
];

test.each(unreadable)("Streamable HTTP: a question that is answered with %s ends, and its call with it", async (_, answer) => {
  const faults: Fault[] = [];
  await using listener = await serve(asker, "http://127.0.0.1:0", { onFault: (fault) => faults.push(fault) });
  const url = listener.address;
  const begun = await post(url, initialize(LEGACY, { elicitation: {} }));
  await begun.text();
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": LEGACY };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const stream = events(await post(url, call(1, "ask"), session));
  const question = await found(stream, ({ method }) => method === "elicitation/create");
  // Another client cannot end it.
  expect((await post(url, answer(question.id), { ...session, "mcp-session-id": "another" })).status).toBe(400);
  const before = faults.length;
  expect((await post(url, answer(question.id), session)).status).toBe(400);
  expect(await found(stream, ({ id }) => id === 1)).toHaveProperty("error");
  expect(faults.length).toBe(before + 1);
});

test.each(unreadable)("HTTP+SSE: a question that is answered with %s ends, and its call with it", async (_, answer) => {
  await using listener = await serve(asker, "sse+http://127.0.0.1:0");
  const base = listener.address.replace(/^sse\+/, "");
  const leaving = new AbortController();
  const opened = await fetch(base, { headers: { accept: "text/event-stream" }, signal: leaving.signal });
  const [first, rest] = (opened.body as ReadableStream<Uint8Array>).tee();
  const begun = await first.getReader().read();
  const path = /data: (\S+)/.exec(new TextDecoder().decode(begun.value))?.[1] ?? "";
  const url = new URL(path, base).href;
  const stream = messages(rest);
  await post(url, initialize(LEGACY, { elicitation: {} }));
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" });
  await post(url, call(1, "ask"));
  const question = await found(stream, ({ method }) => method === "elicitation/create");
  expect((await post(url, answer(question.id))).status).toBe(400);
  expect(await found(stream, ({ id }) => id === 1)).toHaveProperty("error");
  leaving.abort();
});

/** The messages of a stream after its first event, which is no JSON. */
async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<{ readonly message: Rpc | undefined }> {
  const whole = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = new TextDecoder().decode(chunk);
        controller.enqueue(new TextEncoder().encode(text.replace(/^event: endpoint\n.*\n\n/, "")));
      },
    }),
  );
  yield* events(new Response(whole));
}
