import { afterEach, describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, Fault, type JsonObject, type McpClient } from "../../src/api/index.js";
import { alive, figure, fixture, patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

/** A connection to the unruly server, and what it says aside. */
interface Unruly {
  readonly client: McpClient;
  readonly pid: number;
  readonly stderr: readonly string[];
  readonly faults: readonly Fault[];
}

const opened: McpClient[] = [];
async function open(options: ConnectOptions = {}): Promise<Unruly> {
  const stderr: string[] = [];
  const faults: Fault[] = [];
  const client = await connect(fixture("unruly.mjs"), {
    era: "legacy",
    ...options,
    onStderr: (line) => stderr.push(line),
    onFault: (fault) => faults.push(fault),
  });
  opened.push(client);
  await vi.waitFor(() => expect(stderr[0]).toMatch(/^pid \d+$/), patience);
  return { client, pid: Number(stderr[0]?.slice(4)), stderr, faults };
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
  await nobodyLeft();
});

const TARGET_MS = 250;
/** Prints the time from cause to effect, which has a target; a busy machine may take twenty times as long. */
function inTime(what: string, since: number): void {
  figure(what, since);
  expect(performance.now() - since).toBeLessThan(TARGET_MS * 20);
}
const echo = async (client: McpClient, args: JsonObject = { a: 1 }): Promise<void> =>
  expect((await client.callTool("echo", args)).structuredContent).toEqual(args);

/** Every kind of call that can be open: each must end once, with a fault. */
function pending(client: McpClient): { outcomes: Promise<Fault[]>; count: number } {
  const stream = client.streamTool("hang");
  const listen = client.listen({ toolsListChanged: true, resourceSubscriptions: ["test://x"] });
  const watch = client.watch("test://y");
  const calls = [
    client.callTool("hang"),
    client.callTool("hang", {}, { timeout: 60_000 }),
    stream.next(),
    client.readResource("test://x"),
    client.readChunks("test://x").next(),
    client.tools().next(),
    client.listTools(),
    listen.next().then(() => listen.next()),
    watch.next(),
  ];
  const outcomes = calls.map((call) =>
    call.then(
      (value) => Promise.reject(new Error(`ended with ${JSON.stringify(value)}`)),
      (error: Fault) => error,
    ),
  );
  return { outcomes: Promise.all(outcomes), count: calls.length };
}

describe("a server that ends", () => {
  test.each([
    ["killed", "was killed by SIGKILL", (client: McpClient, pid: number) => process.kill(pid, "SIGKILL") && client.ping()],
    ["that kills itself", "was killed by SIGKILL", (client: McpClient) => client.callTool("die")],
    ["that exits", "exited with code 5", (client: McpClient) => client.callTool("exit")],
    ["that exits in the middle of its answer", "exited with code 6", (client: McpClient) => client.callTool("half")],
  ])("%s: every open call fails once, and says how it ended", async (what, how, end) => {
    const { client, pid } = await open();
    const neighbour = await open();
    const { outcomes, count } = pending(client);
    await echo(client);
    const since = performance.now();
    const last = end(client, pid).catch((fault: unknown) => fault);
    const faults = await outcomes;
    inTime(`a server ${what}, to the last of ${count} faults`, since);
    for (const fault of [...faults, await last]) {
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ code: "unavailable", message: `the server ${how}` });
    }
    expect(await client.closed).toMatchObject({ message: `the server ${how}` });
    await expect(client.callTool("echo")).rejects.toMatchObject({ message: `the server ${how}` });
    await expect(client.notify("notifications/x")).rejects.toMatchObject({ code: "unavailable" });
    expect(alive(pid)).toBe(false);
    await echo(neighbour.client);
  });

  test("that closes its stdout and takes no notice of TERM: every open call fails, and it is killed", async () => {
    const { client, pid } = await open();
    const { outcomes } = pending(client);
    await echo(client);
    const since = performance.now();
    const last = client.callTool("mute").catch((fault: unknown) => fault);
    const faults = await outcomes;
    inTime("stdout closed, to the last fault", since);
    for (const fault of [...faults, await last]) expect(fault).toMatchObject({ code: "unavailable", data: { reason: "stdout-closed" } });
    await client.close();
    figure("stdout closed, to the end of the process (TERM, 2 s, KILL)", since);
    expect(alive(pid)).toBe(false);
  });

  test("that hangs: its call fails at its deadline, the server hears of it, others are unharmed", async () => {
    const { client, stderr } = await open();
    const since = performance.now();
    const late = client.callTool("hang", {}, { timeout: 100 });
    await echo(client);
    await expect(late).rejects.toMatchObject({ code: "deadline" });
    inTime("a deadline of 100 ms, to its fault", since + 100);
    await vi.waitFor(() => expect(stderr.some((line) => line.startsWith("cancelled"))).toBe(true), patience);
    await echo(client);
  });

  test("a client that closes while calls are open fails them all", async () => {
    const { client, pid } = await open();
    const { outcomes } = pending(client);
    await echo(client);
    const since = performance.now();
    const closing = client.close();
    for (const fault of await outcomes) expect(fault.code).toBe("unavailable");
    inTime("close, to the last fault", since);
    await closing;
    inTime("close, to the end of the process", since);
    expect(alive(pid)).toBe(false);
  });
});

describe("a server that says what is not a message", () => {
  test("between its answers: none is lost or mistaken, and each line is told of", async () => {
    const { client, faults } = await open();
    const since = performance.now();
    await Promise.all(
      Array.from({ length: 100 }, async (_, at) => expect((await client.callTool("noise", { at })).structuredContent).toEqual({ at })),
    );
    figure("100 answers among 1,200 bad lines", since);
    await vi.waitFor(() => expect(faults).toHaveLength(100 * 2 * 6), patience);
    await echo(client);
  });

  test("in place of an answer that is no UTF-8: that call fails, at once", async () => {
    const { client } = await open();
    const hanging = client.callTool("hang", {}, { timeout: 60_000 });
    hanging.catch(() => {});
    const since = performance.now();
    await expect(client.callTool("latin1")).rejects.toMatchObject({ code: "parse", message: expect.stringContaining("UTF-8") });
    inTime("an answer that is no UTF-8, to the fault of its call", since);
    await echo(client);
  });

  test.each([100_000, 1_000_000])("nested %i deep: that call fails, at once", async (depth) => {
    const { client } = await open();
    const since = performance.now();
    const deep = client.callTool("deep", { depth });
    await expect(deep).rejects.toMatchObject({ code: "overload", data: { limit: "depth" } });
    inTime(`an answer nested ${depth} deep, to the fault of its call`, since);
    await echo(client);
  });

  test("longer than a message may be: that call fails and names the limit, and no other", async () => {
    const messageBytes = 100_000;
    const { client } = await open({ limits: { messageBytes } });
    await client.callTool("huge", { bytes: messageBytes - 1000 });
    const { outcomes } = pending(client);
    await echo(client);
    const since = performance.now();
    const huge = client.callTool("huge", { bytes: 10 * messageBytes });
    await expect(huge).rejects.toMatchObject({ code: "overload", data: { limit: "messageBytes", max: messageBytes } });
    inTime("a line over the limit, to the fault of its call", since);
    await echo(client);
    await client.close();
    await outcomes;
  });

  test("a call longer than a message may be fails alone, before it is sent", async () => {
    const messageBytes = 100_000;
    const { client } = await open({ limits: { messageBytes } });
    const { outcomes } = pending(client);
    const huge = client.callTool("huge", { text: "x".repeat(messageBytes) });
    await expect(huge).rejects.toMatchObject({ code: "overload", data: { limit: "messageBytes", max: messageBytes } });
    await echo(client);
    await client.close();
    await outcomes;
  });
});

describe("a server that is wrong", () => {
  test.each<[string, JsonObject]>([
    ["a result that is a number", { result: 5 }],
    ["a result that is null", { result: null }],
    ["a result that is an array", { result: [] }],
    ["neither result nor error", {}],
    ["both", { result: {}, error: { code: 1, message: "x" } }],
    ["an error that is text", { error: "x" }],
    ["an error without a code", { error: { message: "x" } }],
    ["an error whose code is text", { error: { code: "x", message: "x" } }],
    ["an error without a message", { error: { code: 1 } }],
    ["a method as well", { method: "x", result: {} }],
    ["another version of JSON-RPC", { jsonrpc: "1.0", result: {} }],
  ])("%s is a fault of that call alone", async (_, message) => {
    const { client, faults } = await open();
    const since = performance.now();
    await expect(client.callTool("as", { message })).rejects.toMatchObject({ name: "Fault", code: "invalid-request" });
    expect(performance.now() - since).toBeLessThan(TARGET_MS * 20);
    expect(faults).toHaveLength(1);
    await echo(client);
  });

  test("an answer that comes twice counts once, and the second is told of", async () => {
    const { client, faults } = await open();
    expect((await client.callTool("twice")).structuredContent).toEqual({ again: 1 });
    await echo(client);
    expect(faults).toMatchObject([{ code: "invalid-request", message: expect.stringContaining("no open call") }]);
  });

  test("answers and cancellations of nothing, and broken notifications, harm nobody", async () => {
    const { client, faults } = await open();
    const lines = [
      { jsonrpc: "2.0", id: 999, result: {} },
      { jsonrpc: "2.0", id: "1", result: {} },
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: "what?" } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 999 } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: {}, progress: "x" } },
      { jsonrpc: "2.0", method: "notifications/progress", params: 5 },
      { jsonrpc: "2.0", method: "notifications/message", params: { level: 7 } },
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: {} } },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: [] },
      { jsonrpc: "2.0", method: 5 },
    ];
    expect((await client.callTool("after", { lines })).structuredContent).toEqual({ after: lines.length });
    expect(faults.length).toBeGreaterThanOrEqual(7);
    await echo(client);
  });

  test("a request of its own is answered, if only with what is wrong with it or with us", async () => {
    // Its second question gets an answer of ours that cannot be written.
    const { client, stderr } = await open({ elicit: () => ({ action: "accept", content: { big: 1n } }) });
    const lines = [
      { jsonrpc: "2.0", id: "broken", method: "elicitation/create", params: 5 },
      { jsonrpc: "2.0", id: "unwritten", method: "elicitation/create", params: { message: "Who?" } },
      { jsonrpc: "2.0", id: 1.5, method: "elicitation/create", params: {} },
    ];
    await client.callTool("before", { lines });
    const answers = (): unknown[] => stderr.filter((line) => line.startsWith("response ")).map((line) => JSON.parse(line.slice(9)));
    await vi.waitFor(() => expect(answers()).toHaveLength(2), patience);
    expect(answers()).toMatchObject([
      { id: "broken", error: { code: -32600 } },
      { id: "unwritten", error: { code: -32603 } },
    ]);
  });
});

describe("a server that does not keep up", () => {
  test("that does not read: calls wait, then are refused; closing ends them all", async () => {
    const backlogBytes = 300_000;
    const { client, pid } = await open({ limits: { backlogBytes } });
    await client.callTool("deaf");
    const text = "x".repeat(10_000);
    const waiting: Promise<unknown>[] = [];
    let refusal: Fault | undefined;
    const since = performance.now();
    while (refusal === undefined) {
      const call = client.callTool("echo", { text });
      const early = await Promise.race([call.catch((fault: Fault) => fault), new Promise((resolve) => setImmediate(resolve))]);
      if (early instanceof Fault) refusal = early;
      else waiting.push(call.catch((fault: unknown) => fault));
    }
    figure(`a deaf server took ${waiting.length} calls of 10 kB, then the refusal`, since);
    expect(refusal).toMatchObject({ code: "overload", data: { limit: "backlogBytes", max: backlogBytes } });
    expect(waiting.length).toBeLessThan(200);
    const closing = client.close();
    for (const fault of await Promise.all(waiting)) expect(fault).toMatchObject({ code: "unavailable" });
    await closing;
    expect(alive(pid)).toBe(false);
  });

  test("that asks and never reads an answer is left, and its calls say why", async () => {
    const inFlight = 500;
    const { client, pid } = await open({ limits: { inFlight } });
    const { outcomes } = pending(client);
    await echo(client);
    const since = performance.now();
    const last = client.callTool("pester", { count: 50_000 }).catch((fault: unknown) => fault);
    for (const fault of [...(await outcomes), await last])
      expect(fault).toMatchObject({ code: "overload", data: { limit: "inFlight", max: inFlight } });
    figure("questions whose answers are not read, to the last fault", since);
    await client.close();
    expect(alive(pid)).toBe(false);
  });

  test("that asks more than may wait is refused the rest, by the bytes of its questions", async () => {
    const connectionBytes = 100_000;
    const answers: (() => void)[] = [];
    const { client, stderr } = await open({
      limits: { connectionBytes },
      elicit: () => new Promise((resolve) => answers.push(() => resolve({ action: "decline" }))),
    });
    const refused = (): string[] => stderr.filter((line) => line.includes('"limit":"connectionBytes"'));
    // The call of which the questions are.
    const hanging = client.callTool("hang").catch((fault: unknown) => fault);
    await client.callTool("interrogate", { count: 20, bytes: 20_000 });
    await vi.waitFor(() => expect(refused()).toHaveLength(16), patience);
    expect(answers).toHaveLength(4);
    for (const answer of answers.splice(0)) answer();
    await vi.waitFor(() => expect(stderr.filter((line) => line.includes('"action":"decline"'))).toHaveLength(4), patience);
    // There is room again, and always for one.
    await client.callTool("interrogate", { count: 1, bytes: 200_000 });
    await vi.waitFor(() => expect(answers).toHaveLength(1), patience);
    await client.close();
    await hanging;
  });

  test("that floods a slow reader without credit: that call alone fails, its neighbours do not notice", async () => {
    const callBytes = 50_000;
    const { client, stderr } = await open({ limits: { callBytes } });
    const stream = client.streamTool("flood", { count: 2_000, bytes: 100 });
    await stream.next();
    await Promise.all(Array.from({ length: 50 }, (_, at) => echo(client, { at })));
    const seen: number[] = [];
    const fault = await (async () => {
      for await (const event of stream) if (event.kind === "progress") seen.push(event.progress.progress);
    })().catch((error: Fault) => error);
    expect(fault).toMatchObject({ code: "overload", data: { limit: "callBytes", max: callBytes } });
    console.log(`a flood of 2,000 to a reader of one: ${seen.length} more were held, then the fault`);
    await vi.waitFor(() => expect(stderr.some((line) => line.startsWith("cancelled"))).toBe(true), patience);
    const whole = await client.callTool("flood", { count: 2_000, bytes: 100 }, { onProgress: () => {} });
    expect(whole.structuredContent).toMatchObject({ flooded: 2_000 });
  });
});
