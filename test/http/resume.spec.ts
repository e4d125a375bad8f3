import { expect, it } from "vitest";
import { createServer, progress, serve } from "../../src/api/index.js";
import { memoryEvents } from "../../src/wires/http/index.js";
import { begin, call, events, open, post, until } from "./requests.js";

const counting = (id: number, n: number) => call(id, "count", { n }, { _meta: { progressToken: id } });
const resumed = (url: string, session: Record<string, string>, last: string) =>
  fetch(url, { headers: { ...session, accept: "text/event-stream", "last-event-id": last } });

it("resumes a call's stream after any event: each once, in order", async () => {
  await using at = await open();
  const session = await begin(at.url);
  const seen: unknown[] = [];
  let last = "";
  let answer = await post(at.url, counting(1, 50), session);
  // Leaves after every seventh event, with whatever was already on its way.
  for (let answered = false; !answered; answer = await resumed(at.url, session, last)) {
    let count = 0;
    for await (const { id, message } of events(answer)) {
      last = id ?? last;
      if (message === undefined) continue;
      seen.push(message.method === undefined ? message.id : message.params?.["progress"]);
      answered ||= message.id === 1;
      if (++count === 7) break;
    }
    expect(answer.status).toBe(200);
  }
  expect(seen).toEqual([...Array.from({ length: 50 }, (_, n) => n + 1), 1]);
});

it("resumes one stream with its events alone", async () => {
  await using at = await open();
  const session = await begin(at.url);
  const ids: string[] = [];
  for (const id of [1, 2]) for await (const event of events(await post(at.url, counting(id, 2), session))) ids.push(event.id as string);
  const first = ids[0] as string;
  const tokens: unknown[] = [];
  for await (const { message } of events(await resumed(at.url, session, first)))
    tokens.push(message?.params?.["progressToken"] ?? message?.id);
  expect(tokens).toEqual([1, 1, 1]);
  expect(new Set(ids).size).toBe(ids.length);
});

it("says so when the place is not kept any more, never there, or no place at all", async () => {
  await using at = await open({ events: memoryEvents({ items: 3 }) });
  const session = await begin(at.url);
  const ids: string[] = [];
  for await (const { id } of events(await post(at.url, counting(1, 20), session))) ids.push(id as string);
  const stream = (ids[0] as string).slice(0, -3);
  for (const place of [ids[0], ids[2], `${stream}_900`, `${stream}_`, `${stream}_1e1`, `${stream}_ 1`, "nonsense", "_", ""]) {
    const answer = await resumed(at.url, session, place as string);
    expect([place, answer.status === 200 && place !== ""]).toEqual([place, false]);
    await answer.body?.cancel();
  }
  const kept: unknown[] = [];
  for await (const { message } of events(await resumed(at.url, session, ids.at(-3) as string)))
    kept.push(message?.params?.["progress"] ?? message?.id);
  expect(kept).toEqual([20, 1]);
});

it("makes a call wait for a client that is away, so that nothing is lost", async () => {
  const N = 5_000;
  let made = 0;
  let go = (): void => {};
  const server = createServer({ name: "x", version: "1" }).tool("flood", {}, async function* () {
    yield progress(made++);
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    for (; made < N; made++) yield progress(made, N, "x".repeat(1_000));
    return "done";
  });
  await using listener = await serve(server, "http://127.0.0.1:0");
  const session = await begin(listener.address);
  const abort = new AbortController();
  const body = call(1, "flood", {}, { _meta: { progressToken: 1 } });
  const stream = events(await post(listener.address, body, session, abort.signal));
  await stream.next();
  const { id: last } = (await stream.next()).value as { id: string };
  abort.abort();
  await expect(stream.next()).rejects.toThrow();
  // The server hears of it before it hears of what is sent on another connection later.
  for (let round = 0; round < 20; round++) await (await post(listener.address, { jsonrpc: "2.0", id: 2, method: "ping" }, session)).text();
  go();
  await until(() => made > 200);
  for (let before = 0; before !== made; ) {
    before = made;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(made).toBeLessThan(1_000);
  const seen: unknown[] = [];
  for await (const { message } of events(await resumed(listener.address, session, last)))
    seen.push(message?.params?.["progress"] ?? message?.id);
  expect(seen).toEqual([...Array.from({ length: N - 1 }, (_, n) => n + 1), 1]);
});

it("takes over a stream whose old connection does not know yet that it is dead, and cuts that one", async () => {
  let go = (): void => {};
  const server = createServer({ name: "x", version: "1" }).tool("halves", {}, async function* () {
    yield progress(1);
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    return "done";
  });
  await using listener = await serve(server, "http://127.0.0.1:0");
  const session = await begin(listener.address);
  const old = events(await post(listener.address, call(1, "halves", {}, { _meta: { progressToken: 1 } }), session));
  await old.next();
  const { id } = (await old.next()).value as { id: string };
  const answer = await resumed(listener.address, session, id);
  await expect(old.next()).rejects.toThrow();
  go();
  const seen: unknown[] = [];
  for await (const { message } of events(answer)) seen.push(message?.id);
  expect(seen).toEqual([1]);
});
