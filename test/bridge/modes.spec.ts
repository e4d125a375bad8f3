import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../src/api/index.js";
import type { BridgeOptions, SessionMode } from "../../src/bridge/index.js";
import { alive, patience } from "../fixtures/children/index.js";
import { modern, postModern, rpc } from "../http/requests.js";
import { answerOf } from "../identity/caller.js";
import { fetchCaller } from "../identity/peers/http.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const URI = "test://live";
const TIMEOUT = { timeout: 60_000 };

/** A legacy client of the SDK, and everything that it is told. */
interface Person {
  readonly client: Client;
  readonly heard: string[];
  call(tool: string, args?: Record<string, unknown>): Promise<string>;
  /** Ends its session, as the specification asks of a client that leaves. */
  leave(): Promise<void>;
}

async function person(made: TestBridge, name: string, askable = true): Promise<Person> {
  const capabilities = askable ? { elicitation: {}, sampling: {}, roots: {} } : {};
  const client = new Client({ name, version: "1" }, { capabilities });
  const heard: string[] = [];
  const answer = answerOf(name);
  if (askable)
    for (const schema of [ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema])
      client.setRequestHandler(schema, async ({ method, params }) => {
        heard.push(`${method} ${JSON.stringify(params)}`);
        return (await answer(method, (params ?? {}) as never)) as never;
      });
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push(`${method} ${JSON.stringify(params ?? {})}`);
  const transport = new StreamableHTTPClientTransport(new URL(made.at("http").address));
  await client.connect(transport);
  return {
    client,
    heard,
    async call(tool, args = {}) {
      const { content, isError } = await client.callTool({ name: tool, arguments: args });
      const { text } = (content as { text: string }[])[0] ?? { text: "" };
      if (isError === true) throw new Error(text);
      return text;
    },
    async leave() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

interface Column {
  readonly name: string;
  readonly sessions: SessionMode;
  readonly askable: boolean;
  /** Sessions with the server when two clients have called. */
  readonly count: number;
  /** What the server is told of the client Ada. */
  readonly told: string;
  /** Whether two clients use the same server process. */
  readonly same: boolean;
}

const bridged = "client anywire elicitation,roots,sampling";
const columns: readonly Column[] = [
  { name: "shared", sessions: "shared", askable: true, count: 1, told: bridged, same: true },
  { name: "own", sessions: "own", askable: true, count: 2, told: "client Ada elicitation,roots,sampling", same: false },
  { name: "pool", sessions: { pool: 2 }, askable: true, count: 2, told: bridged, same: false },
  { name: "auto, can be asked", sessions: "auto", askable: true, count: 3, told: "client Ada elicitation,roots,sampling", same: false },
  { name: "auto, cannot be asked", sessions: "auto", askable: false, count: 1, told: "client anywire", same: true },
];

/** Two clients on a bridge. */
async function two(
  { sessions, askable }: Column,
  options: Partial<BridgeOptions>,
  run: (ada: Person, bob: Person, made: TestBridge) => Promise<void>,
): Promise<void> {
  const made = await openBridge(["http"], { sessions, ...options });
  const ada = await person(made, "Ada", askable);
  const bob = await person(made, "Bob", askable);
  try {
    await run(ada, bob, made);
  } finally {
    await Promise.all([ada.leave(), bob.leave()]);
    await made.close();
  }
}

describe.each(columns)("$name", (column) => {
  const { same, count, told, askable } = column;

  it("starts: sessions, processes, and what the server is told of the client", TIMEOUT, async () => {
    const ledger = new Ledger();
    await two(column, { to: ledger.command }, async (ada, bob, made) => {
      const pids = [await ada.call("pid"), await bob.call("pid")];
      expect(made.upstream).toMatchObject({ state: "ready", sessions: count, children: count });
      expect(new Set(pids).size).toBe(same ? 1 : 2);
      expect(ledger.of(Number(pids[0]))).toContain(told);
    });
  });

  it("ends: what belonged to a client that left, and nothing else", TIMEOUT, async () => {
    const ledger = new Ledger();
    await two(column, { to: ledger.command }, async (ada, bob, made) => {
      const [hers, his] = [Number(await ada.call("pid")), Number(await bob.call("pid"))];
      await ada.leave();
      const stays = same || (column.sessions !== "own" && column.sessions !== "auto");
      if (!stays) await vi.waitFor(() => expect(alive(hers)).toBe(false), patience);
      expect(alive(hers)).toBe(stays);
      expect(Number(await bob.call("pid"))).toBe(his);
      expect(made.upstream.sessions).toBe(stays ? count : count - 1);
    });
  });

  it("subscriptions reach only whoever subscribed, list changes everybody on that session", TIMEOUT, async () => {
    await two(column, { to: new Ledger().command }, async (ada, bob) => {
      await ada.client.subscribeResource({ uri: URI });
      await ada.call("change", { uri: URI });
      await ada.call("relist");
      const updated = (who: Person): number => who.heard.filter((line) => line.startsWith("notifications/resources/updated")).length;
      const relisted = (who: Person): number => who.heard.filter((line) => line.startsWith("notifications/tools/list_changed")).length;
      await vi.waitFor(() => expect([updated(ada), relisted(ada)]).toEqual([1, 1]), patience);
      // What came for her came for him before this answer.
      await bob.call("pid");
      if (same) await vi.waitFor(() => expect(relisted(bob)).toBe(1), patience);
      expect([updated(bob), relisted(bob)]).toEqual([0, same ? 1 : 0]);
    });
  });

  it("log levels are each client's own, and log entries reach only the client they belong to", TIMEOUT, async () => {
    await two(column, { to: new Ledger().command }, async (ada, bob) => {
      await ada.client.setLoggingLevel("error");
      await bob.client.setLoggingLevel("debug");
      await ada.call("log", { text: "of-ada" });
      await bob.call("log", { text: "of-bob" });
      const logs = ({ heard }: Person): string[] => heard.filter((line) => line.startsWith("notifications/message"));
      await vi.waitFor(() => expect([logs(ada).length, logs(bob).length]).toEqual([1, 3]), patience);
      expect(logs(ada).join()).toContain("error of-ada");
      expect(logs(bob).join()).not.toContain("of-ada");
    });
  });

  it("results and progress reach the call that they belong to", TIMEOUT, async () => {
    await two(column, { to: new Ledger().command }, async (ada, bob) => {
      const calls = [ada, bob].flatMap((who, at) =>
        ["first", "second"].map(async (which) => {
          const text = `${which} of ${at}`;
          const told: unknown[] = [];
          const onprogress = ({ message }: { message?: string | undefined }): void => void told.push(message);
          const { content } = await who.client.callTool({ name: "progress", arguments: { text } }, undefined, { onprogress });
          expect(content).toEqual([{ type: "text", text }]);
          expect(told).toEqual([1, 2, 3].map((count) => `${count} ${text}`));
        }),
      );
      await Promise.all(calls);
      expect([...ada.heard, ...bob.heard]).toEqual([]);
    });
  });

  if (!askable) {
    it("questions are refused: the server was told that nobody can be asked", TIMEOUT, () =>
      two(column, {}, async (ada) => {
        await expect(ada.call("ask", { secret: "ada" })).rejects.toThrow(/does not support/);
      }),
    );
    return;
  }

  it("a question, a sample and roots reach the client whose call it is", TIMEOUT, () =>
    two(column, {}, async (ada, bob) => {
      expect(await ada.call("ask", { secret: "x" })).toBe("x <- Ada says for x");
      expect(await bob.call("sample", { secret: "y" })).toBe("y <- Bob says for y");
      expect(await ada.call("roots", { secret: "z" })).toBe("z <- file:///Ada");
      expect([ada.heard.length, bob.heard.length]).toEqual([2, 1]);
    }),
  );

  it("questions of two clients at once", TIMEOUT, () =>
    two(column, {}, async (ada, bob) => {
      const tool = same ? "ask-together" : "ask-later";
      const asked = await Promise.allSettled([ada.call(tool, { secret: "a" }), bob.call(tool, { secret: "b" })]);
      if (!same)
        return expect(asked.map((each) => (each as { value?: string }).value)).toEqual(["a <- Ada says for a", "b <- Bob says for b"]);
      // Nobody can tell whose they are: the error says what to do.
      for (const each of asked) expect(String((each as { reason?: unknown }).reason)).toMatch(/sessions: "own".*--sessions own/);
      expect([...ada.heard, ...bob.heard]).toEqual([]);
    }),
  );

  it("a question after its call", TIMEOUT, () =>
    two(column, {}, async (ada, bob) => {
      await ada.call(same ? "ask-in-next" : "ask-after", { secret: "late", ms: 100 });
      await bob.call(same ? "until-answered" : "pause", { secret: "x", ms: 300 });
      await vi.waitFor(async () => expect(await ada.call("answers", { secret: "" })).not.toBe(""), patience);
      const answer = await ada.call("answers", { secret: "" });
      // A shared session trusts its server to ask in its calls: only his was open.
      expect(answer).toBe(same ? "late <- Bob says for late" : "late <- Ada says for late");
    }),
  );
});

it("own: no more sessions than the limits allow, and the error names the one that was reached", TIMEOUT, async () => {
  await using made = await openBridge(["http"], { to: new Ledger().command, sessions: "own", maxUpstreams: 4 });
  const people = [await person(made, "Ada"), await person(made, "Bob")];
  await expect(person(made, "Cyd")).rejects.toMatchObject({ data: { limit: "maxUpstreamsPerPrincipal", max: 2 } });
  await people[0]?.leave();
  await vi.waitFor(() => expect(made.upstream.sessions).toBe(1), patience);
  people.push(await person(made, "Cyd"));
  await Promise.all(people.slice(1).map((each) => each.leave()));
});

it("own: a client that vanished without a word loses its process when it was idle for long enough", TIMEOUT, async () => {
  await using made = await openBridge(["http"], { to: new Ledger().command, sessions: "own", clientIdleMs: 300 });
  const ada = await person(made, "Ada");
  const pid = Number(await ada.call("pid"));
  await new Promise((resolve) => setTimeout(resolve, 900));
  // Her stream is open: that is not idle.
  expect(alive(pid)).toBe(true);
  await ada.client.close();
  await vi.waitFor(() => expect(alive(pid)).toBe(false), patience);
  expect(made.upstream.sessions).toBe(0);
});

it("pool: who finds no session free waits, and when the one that has it has gone, gets a fresh one at once", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, sessions: { pool: 1 } });
  const ada = await person(made, "Ada");
  const pid = await ada.call("pid");
  let left = false;
  const bob = person(made, "Bob").then(async (him) => ({ him, afterHer: left, pid: await him.call("pid") }));
  await new Promise((resolve) => setTimeout(resolve, 300));
  left = true;
  await ada.leave();
  const { him, afterHer, pid: his } = await bob;
  expect(afterHer).toBe(true);
  // What her server might still have said can reach nobody: it has ended.
  expect(his).not.toBe(pid);
  expect(ledger.pids.filter(alive)).toEqual([Number(his)]);
  await him.leave();
});

it("pool: a caller waits only so long", TIMEOUT, async () => {
  await using made = await openBridge(["http"], { to: new Ledger().command, sessions: { pool: 1 }, waitMs: 300 });
  const ada = await person(made, "Ada");
  await expect(person(made, "Bob")).rejects.toThrow(/within 300 ms/);
  await ada.leave();
});

it("auto: calls that nothing tells apart do not wait for each other's sessions to become quiet", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, maxUpstreams: 8, maxUpstreamsPerPrincipal: 2 });
  const callers = Array.from({ length: 6 }, (_, at) => fetchCaller(`person ${at}`, made.at("http").address));
  const pids = await Promise.all(callers.map(async (caller) => Number(await (await caller).call("pid", {}))));
  // No server that may still have to say something to one client was given to another.
  expect(new Set(pids).size).toBe(6);
  expect(pids.filter(alive).length).toBeLessThanOrEqual(2);
});

it("auto: the process of a stateless call serves the next client after 5 quiet seconds, and nobody before", TIMEOUT, async () => {
  await using made = await openBridge(["http"], { to: new Ledger().command });
  const pid = async (name: string): Promise<string> => (await fetchCaller(name, made.at("http").address)).call("pid", {});
  const ada = await pid("Ada");
  const bob = await pid("Bob");
  expect(bob).not.toBe(ada);
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  expect([ada, bob]).toContain(await pid("Cyd"));
});

it("auto: the server of a stateless call is told what its client can be asked, and nothing else", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command });
  const told = async (capabilities: JsonObject): Promise<string[]> => {
    const _meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    const answer = await postModern(made.at("http").address, modern(1, "tools/call", { name: "pid", arguments: {}, _meta }));
    const pid = /"text":"(\d+)"/.exec(await answer.text())?.[1];
    return ledger.of(Number(pid)).filter((line) => line.startsWith("client"));
  };
  expect(await told({ sampling: {} })).toEqual(["client anywire sampling"]);
  expect(await told({ elicitation: {}, roots: {} })).toEqual(["client anywire elicitation,roots"]);
  expect(await told({})).toEqual(["client anywire"]);
});

describe("auto: lists of stateless clients", () => {
  const names = async (made: TestBridge, capabilities: JsonObject): Promise<string[]> => {
    const _meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    const { result } = await rpc(postModern(made.at("http").address, modern(1, "tools/list", { _meta })));
    return (result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };

  it("have what the server offers to clients that it can ask", TIMEOUT, async () => {
    const entry = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
    await using made = await openBridge(["http"], {
      to: { command: process.execPath, args: [join(dirname(entry), "dist/index.js"), "stdio"] },
    });
    const plain = await names(made, {});
    const asked = await Promise.all([{ elicitation: {} }, { elicitation: { form: {} } }].map((capabilities) => names(made, capabilities)));
    expect(plain).not.toContain("trigger-elicitation-request");
    for (const each of asked) expect(each).toEqual(expect.arrayContaining([...plain, "trigger-elicitation-request"]));
    // All clients that can be asked the same share a process for their lists.
    expect(made.upstream.children).toBe(2);
  });

  it("reach nobody with what the server asks there", TIMEOUT, async () => {
    const ledger = new Ledger("asks-in-lists");
    await using made = await openBridge(["http"], { to: ledger.command });
    expect(await names(made, { roots: {} })).toEqual(["refused"]);
    expect(ledger.of(ledger.pids[1])).toContain("client anywire roots");
  });

  it("come from the session that all share where there is no room for another", TIMEOUT, async () => {
    const ledger = new Ledger();
    await using made = await openBridge(["http"], { to: ledger.command, maxUpstreams: 1 });
    expect(await names(made, { roots: {} })).toContain("pid");
    expect(ledger.pids).toHaveLength(1);
  });
});

it("own: a call of a stateless client keeps its session while it waits for an answer, and no longer", TIMEOUT, async () => {
  await using made = await openBridge(["http"], { sessions: "own", serve: { limits: { answerMs: 1500 } } });
  const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const call = async (more: JsonObject = {}): Promise<JsonObject> => {
    const request = modern(1, "tools/call", { name: "ask", arguments: { secret: "x" }, _meta, ...more });
    return (await rpc(postModern(made.at("http").address, request))).result ?? {};
  };
  const { requestState, inputRequests } = await call();
  const [key] = Object.keys((inputRequests ?? {}) as JsonObject);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(made.upstream.sessions).toBe(1);
  const answer = { action: "accept", content: { answer: "Ada" } };
  expect(await call({ requestState, inputResponses: { [String(key)]: answer } })).toMatchObject({ content: [{ text: "x <- Ada" }] });
  await vi.waitFor(() => expect(made.upstream.sessions).toBe(0), patience);
  expect(await call()).toMatchObject({ resultType: "input_required" });
  expect(made.upstream.sessions).toBe(1);
  // Nobody answers this one.
  await vi.waitFor(() => expect(made.upstream.sessions).toBe(0), patience);
});
