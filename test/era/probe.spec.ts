import { afterEach, describe, expect, test } from "vitest";
import {
  Caller,
  Canceller,
  type Connection,
  type Context,
  type DialOptions,
  Fault,
  type JsonObject,
  resultOf,
} from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { type Raw, rawLink } from "../fixtures/raw.js";

type Server = Omit<Raw, "faults">;

const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
const initialized = { protocolVersion: "2025-11-25", capabilities: { tools: {}, logging: {} }, serverInfo: { name: "raw", version: "0" } };
const unknown = { code: -32601, message: "Method not found" };

describe("finding out a peer's era", () => {
  const links: { close(): Promise<void> }[] = [];
  afterEach(async () => void (await Promise.all(links.splice(0).map((link) => link.close()))));

  function dial(options: DialOptions = {}): { server: Server; dialed: Promise<Connection>; faults: Fault[] } {
    const [mine, theirs] = linkPair();
    const server = rawLink(theirs);
    const faults: Fault[] = [];
    const dialed = dialLink(mine, { ...options, onFault: (fault) => faults.push(fault) });
    dialed.catch(() => {});
    links.push(server, {
      close: () =>
        dialed.then(
          (connection) => connection.close(),
          () => {},
        ),
    });
    return { server, dialed, faults };
  }
  /** Waits for a request and answers it with a result or an error. */
  async function answer(server: Server, method: string, outcome: JsonObject): Promise<JsonObject> {
    const { id, params } = await server.hear((message) => message["method"] === method);
    server.send({ jsonrpc: "2.0", id, ...outcome });
    return params as JsonObject;
  }
  const me = new Caller();
  const context = (connection: Connection, identity = me): Context => ({
    client: { identity, era: connection.era, protocolVersion: connection.protocolVersion, capabilities: {} },
    cancel: new Canceller(),
    progress: false,
    metadata: {},
  });
  /** Makes a call, and gives the params as the server got them. */
  async function called(server: Server, connection: Connection): Promise<JsonObject> {
    const result = resultOf(connection.call({ method: "tools/call", params: { name: "t" } }, context(connection)));
    const params = await answer(server, "tools/call", { result: { content: [] } });
    expect(await result).toMatchObject({ content: [] });
    return params;
  }

  test("a discover result means modern", async () => {
    const { server, dialed } = dial();
    await answer(server, "server/discover", { result: discovered });
    const connection = await dialed;
    expect([connection.era, connection.protocolVersion]).toEqual(["modern", "2026-07-28"]);
    expect(await called(server, connection)).toHaveProperty("_meta");
    expect(server.heard.map(({ method }) => method)).toEqual(["server/discover", "tools/call"]);
  });

  test.each([-32601, -32600, -32602, -32603, -32700, -32000, -32001, 0, 1])("the error %i means legacy", async (code) => {
    const { server, dialed } = dial();
    await answer(server, "server/discover", { error: { code, message: "what?" } });
    await answer(server, "initialize", { result: initialized });
    const connection = await dialed;
    expect(connection.era).toBe("legacy");
    expect(await called(server, connection)).toEqual({ name: "t" });
  });

  test("a result that is no discovery means legacy", async () => {
    const { server, dialed } = dial();
    await answer(server, "server/discover", { result: { tools: [] } });
    await answer(server, "initialize", { result: initialized });
    expect((await dialed).era).toBe("legacy");
  });

  test("silence means legacy, and the probe is forgotten", async () => {
    const { server, dialed, faults } = dial({ probeMs: 5 });
    await answer(server, "initialize", { result: initialized });
    const connection = await dialed;
    expect(connection.era).toBe("legacy");
    expect(await called(server, connection)).toEqual({ name: "t" });
    // A log entry that names no call is taken for the one call that is open: a probe that still counted would hide that.
    const logs: unknown[] = [];
    const call = resultOf(
      connection.call({ method: "tools/call", params: { name: "l" } }, { ...context(connection), logLevel: "info" }),
      (reply) => {
        if (reply.kind === "log") logs.push(reply.params["data"]);
      },
    );
    const { id } = await server.hear(({ params }) => (params as JsonObject)?.["name"] === "l");
    server.send(
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "mine" } },
      { jsonrpc: "2.0", id, result: {} },
    );
    await call;
    expect(logs).toEqual(["mine"]);
    expect(faults).toEqual([]);
  });

  test.each([
    ["a result", { result: discovered }],
    ["an error", { error: unknown }],
  ])("%s of discover that comes after the session began changes nothing", async (_, late) => {
    const { server, dialed, faults } = dial({ probeMs: 5 });
    await answer(server, "initialize", { result: initialized });
    const connection = await dialed;
    await answer(server, "server/discover", late);
    server.send({ jsonrpc: "2.0", id: "roots", method: "ping" });
    expect(await server.response("roots")).toMatchObject({ result: {} });
    expect(await called(server, connection)).toEqual({ name: "t" });
    expect(connection.era).toBe("legacy");
    expect(faults).toEqual([]);
  });

  test("discover answered late but first decides, and what initialize says then changes nothing", async () => {
    const { server, dialed, faults } = dial({ probeMs: 5 });
    const { id } = await server.hear(({ method }) => method === "initialize");
    await answer(server, "server/discover", { result: discovered });
    const connection = await dialed;
    server.send({ jsonrpc: "2.0", id, result: initialized });
    expect(connection.era).toBe("modern");
    expect(await called(server, connection)).toHaveProperty("_meta");
    expect(server.heard.map(({ method }) => method)).toEqual(["server/discover", "initialize", "tools/call"]);
    expect(faults).toEqual([]);
  });

  test("a late error of discover leaves it to initialize", async () => {
    const { server, dialed } = dial({ probeMs: 5 });
    const { id } = await server.hear(({ method }) => method === "initialize");
    await answer(server, "server/discover", { error: unknown });
    server.send({ jsonrpc: "2.0", id, result: initialized });
    expect((await dialed).era).toBe("legacy");
  });

  test("an initialize refused leaves it to a slow discover", async () => {
    const { server, dialed } = dial({ probeMs: 5 });
    await answer(server, "initialize", { error: unknown });
    await answer(server, "server/discover", { result: discovered });
    expect((await dialed).era).toBe("modern");
  });

  test("both refused: what initialize said is told", async () => {
    const { server, dialed } = dial({ probeMs: 5 });
    await answer(server, "initialize", { error: { code: -32000, message: "not you", data: { why: 1 } } });
    await answer(server, "server/discover", { error: unknown });
    await expect(dialed).rejects.toMatchObject({ message: "not you", rpcCode: -32000, data: { why: 1 } });
  });

  test.each(["2031-01-01", "1.0", undefined])(
    "a server whose initialize answers %j is left, with both versions named, whether or not it knew discover",
    async (version) => {
      for (const silent of [true, false]) {
        const { server, dialed } = dial({ probeMs: silent ? 5 : 60_000 });
        if (!silent) await answer(server, "server/discover", { error: unknown });
        const since = performance.now();
        await answer(server, "initialize", { result: { ...initialized, protocolVersion: version } });
        const fault = (await dialed.catch((error: unknown) => error)) as Fault;
        expect(performance.now() - since).toBeLessThan(5000);
        expect(fault).toBeInstanceOf(Fault);
        expect(fault.code).toBe("unsupported-version");
        for (const named of [String(version), "2025-11-25"]) expect(fault.message).toContain(named);
        expect(server.heard.map(({ method }) => method)).not.toContain("notifications/initialized");
      }
    },
  );

  test("a modern server without a version of ours is left, with both named, unless it has a legacy one", async () => {
    const other = dial();
    await answer(other.server, "server/discover", {
      error: { code: -32022, message: "no", data: { supported: ["2031-01-01"], requested: "2026-07-28" } },
    });
    await expect(other.dialed).rejects.toMatchObject({
      code: "unsupported-version",
      message: expect.stringMatching(/2026-07-28.*2031-01-01/),
    });
    const newer = dial();
    await answer(newer.server, "server/discover", { result: { ...discovered, supportedVersions: ["2031-01-01"] } });
    await expect(newer.dialed).rejects.toMatchObject({
      code: "unsupported-version",
      message: expect.stringMatching(/2026-07-28.*2031-01-01/),
    });
    for (const outcome of [
      { error: { code: -32022, message: "no", data: { supported: ["2031-01-01", "2025-06-18"] } } },
      { result: { ...discovered, supportedVersions: ["2031-01-01", "2025-06-18"] } },
    ]) {
      const both = dial();
      await answer(both.server, "server/discover", outcome);
      await answer(both.server, "initialize", { result: { ...initialized, protocolVersion: "2025-06-18" } });
      expect(await both.dialed).toMatchObject({ era: "legacy", protocolVersion: "2025-06-18" });
    }
  });

  test("a fault that says nothing of the era is told as it is, also where the modern one is wanted", async () => {
    const full = dial({ era: "modern" });
    await answer(full.server, "server/discover", { error: { code: -31001, message: "too many clients", data: { limit: "sessions" } } });
    await expect(full.dialed).rejects.toMatchObject({ code: "overload", message: "too many clients", data: { limit: "sessions" } });

    const gone = dial({ era: "modern" });
    await gone.server.hear(({ method }) => method === "server/discover");
    await gone.server.close();
    await expect(gone.dialed).rejects.toMatchObject({ code: "unavailable" });
  });

  test("told which era, it asks for no other", async () => {
    const legacy = dial({ era: "legacy" });
    await answer(legacy.server, "initialize", { result: { ...initialized, protocolVersion: "2024-11-05" } });
    expect(await legacy.dialed).toMatchObject({ era: "legacy", protocolVersion: "2024-11-05" });
    const modern = dial({ era: "modern" });
    await answer(modern.server, "server/discover", { error: unknown });
    await expect(modern.dialed).rejects.toMatchObject({ code: "unsupported-version", message: expect.stringContaining("2026-07-28") });
    expect(modern.server.heard.map(({ method }) => method)).toEqual(["server/discover"]);
  });

  test("a server that says nothing is given up in time, and so is one whose dialer changes its mind", async () => {
    const { dialed } = dial({ probeMs: 5, handshakeMs: 50 });
    await expect(dialed).rejects.toMatchObject({ code: "deadline", message: expect.stringContaining("50 ms") });
    const abort = new AbortController();
    const other = dial({ signal: abort.signal });
    await other.server.hear(({ method }) => method === "server/discover");
    abort.abort();
    await expect(other.dialed).rejects.toMatchObject({ code: "cancelled" });
  });

  test("before the session only ping is answered", async () => {
    const { server, dialed } = dial();
    server.send({ jsonrpc: "2.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: 2, method: "roots/list" });
    expect(await server.response(1)).toMatchObject({ result: {} });
    expect(await server.response(2)).toMatchObject({ error: { code: -32600 } });
    await answer(server, "server/discover", { error: unknown });
    await answer(server, "initialize", { result: initialized });
    await dialed;
  });
});
