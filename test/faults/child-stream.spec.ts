import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { childLink } from "../../src/wires/stdio/index.js";
import { figure, fixture, messages, note, patience, request } from "../fixtures/children/index.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in buffers that something still refers to. */
function heldBytes(): number {
  // The second waits for what the first frees in the background.
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

test("garbage between messages is told apart from them and delivers nothing wrong", async () => {
  const calls = 500;
  const link = await childLink(fixture("garbage.mjs"));
  let bad = 0;
  const answers = new Map<unknown, unknown>();
  const since = performance.now();
  for (let id = 0; id < calls; id++) await link.send(request(id, { echo: `é${id}` }));
  for await (const message of messages(link)) {
    if (message.kind === "bad") bad++;
    else if (message.kind === "result" && !answers.has(message.id)) answers.set(message.id, message.value);
    else throw new Error(`a wrong delivery: ${JSON.stringify(message)}`);
    if (answers.size === calls && bad === 2 * calls) break;
  }
  figure(`${calls} answers among ${bad} bad lines`, since);
  for (let id = 0; id < calls; id++) expect(answers.get(id)).toEqual({ echo: `é${id}` });
  await link.close();
});

test("a line without an end costs its own child alone, and bounded memory", async () => {
  const messageBytes = 8 * 1024 * 1024;
  const [endless, neighbour] = await Promise.all([
    childLink(fixture("endless.mjs"), { limits: { messageBytes } }),
    childLink(fixture("echo.mjs")),
  ]);
  const echoes = messages(neighbour);
  const answered = async (id: number): Promise<void> => {
    await neighbour.send(request(id, { id }));
    expect((await echoes.next()).value).toMatchObject({ kind: "result", id, value: { id } });
  };
  await answered(0);
  const before = heldBytes();
  let peak = before;
  let peakWithGarbage = 0;
  const since = performance.now();
  await endless.send(request(1));
  let broken: unknown;
  const reading = messages(endless)
    .next()
    .catch((fault: unknown) => {
      broken = fault;
    });
  let id = 1;
  for (; broken === undefined; id++) {
    await answered(id);
    peakWithGarbage = Math.max(peakWithGarbage, process.memoryUsage().arrayBuffers);
    peak = Math.max(peak, heldBytes());
  }
  await reading;
  expect(broken).toMatchObject({ code: "overload" });
  expect(await endless.child.exited).toEqual({ code: null, signal: "SIGTERM" });
  figure(`endless line to the end of its child (${id} calls of a neighbour meanwhile)`, since);
  const mib = (bytes: number): string => `${((bytes - before) / 2 ** 20).toFixed(1)} MiB`;
  console.log(`limit ${messageBytes / 2 ** 20} MiB, held at most ${mib(peak)}, with garbage ${mib(peakWithGarbage)}`);
  expect(peak - before).toBeLessThan(2 * messageBytes);
  await expect(endless.send(request(2))).rejects.toMatchObject({ code: "overload" });
  await answered(id);
  await Promise.all([endless.close(), neighbour.close()]);
});

test("a child that does not read its stdin makes its callers wait, and what waits is bounded", async () => {
  const link = await childLink(fixture("deaf.mjs"), { graceMs: 200 });
  await note(messages(link));
  const params = { text: "x".repeat(10_000) };
  let sent = 0;
  let waiting: Promise<unknown> | undefined;
  while (waiting === undefined) {
    const taken = link.send(request(sent++, params));
    // Room is there at once or not before the child reads.
    const ready = await Promise.race([taken.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);
    if (!ready) waiting = taken.catch((fault: unknown) => fault);
  }
  console.log(`a deaf child took ${sent} messages of 10 kB; backlog ${link.backlog} bytes`);
  expect(link.backlog).toBeGreaterThanOrEqual(256 * 1024);
  expect(link.backlog).toBeLessThan(256 * 1024 + 2 * 10_100);
  const since = performance.now();
  await link.close();
  figure("close of a deaf child (flush 500 ms, grace 200 ms)", since);
  expect(await waiting).toMatchObject({ code: "unavailable", data: { reason: "closed" } });
  expect(link.backlog).toBeLessThan(256 * 1024 + 2 * 10_100);
});

test("a reader that does not come back holds the child up, and loses nothing", async () => {
  const stderr: string[] = [];
  const link = await childLink(fixture("chatter.mjs"), { onStderr: (line) => stderr.push(line) });
  const neighbour = await childLink(fixture("echo.mjs"));
  const incoming = messages(link);
  await incoming.next();
  const { stdout } = link.child;
  await vi.waitFor(() => expect(stdout.readableLength).toBeGreaterThanOrEqual(stdout.readableHighWaterMark), patience);
  const held = stdout.readableLength;
  const echoes = messages(neighbour);
  for (let id = 0; id < 200; id++) {
    await neighbour.send(request(id));
    await echoes.next();
  }
  expect(stdout.readableLength).toBe(held);
  expect(stderr).toEqual([]);
  console.log(`held for a reader that sleeps: ${held} bytes`);
  let count = 1;
  for await (const message of incoming) {
    expect(message.kind).toBe("notification");
    if (++count === 20_000) break;
  }
  await vi.waitFor(() => expect(stderr).toEqual(["all written"]), patience);
  await Promise.all([link.close(), neighbour.close()]);
  expect(await link.child.exited).toEqual({ code: 0, signal: null });
});

test("closing a link that nobody reads lets a child finish its writes and exit by itself", async () => {
  const link = await childLink(fixture("chatter.mjs"), { graceMs: 20_000 });
  const since = performance.now();
  await link.close();
  figure("close with 20 MB unread", since);
  expect(await link.child.exited).toEqual({ code: 0, signal: null });
});
