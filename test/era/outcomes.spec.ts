import { describe, expect, it } from "vitest";
import { AMBIENT, DONE, Fault, guard, type Replies, type Reply, resultOf, type Service } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf, until } from "../calls.js";
import { asking } from "../support/peer.js";
import { modern, raw, served, servedLines } from "./raw.js";

function replies(...steps: readonly Reply[]): Replies & { left: boolean } {
  let at = 0;
  return {
    left: false,
    next: () => {
      const value = steps[at++];
      return Promise.resolve(value === undefined ? DONE : { done: false, value });
    },
    return() {
      this.left = true;
      return Promise.resolve(DONE);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

describe("every call has an outcome", () => {
  it.each(["tools/call", "tools/list", "resources/read"])("also a %s that its service ends without a result", async (method) => {
    const service: Service = { call: () => replies({ kind: "progress", params: { progress: 1 } }), notify: () => Promise.resolve() };
    const client = raw(served(service).link);
    await client.send(modern(1, method));
    expect(await client.answer(1)).toMatchObject({ kind: "error", error: { code: -32603 } });
    await client.link.close();
  });

  it("the reason of a cancel that fires between two reads is told to the next", async () => {
    const context = contextOf();
    const steps = guard(async function* () {
      yield { kind: "progress", params: {} };
      return {};
    }, context);
    await steps.next();
    context.cancel.fire(new Fault("deadline", "too late"));
    await expect(steps.next()).rejects.toMatchObject({ code: "deadline" });
    expect(await steps.next()).toEqual(DONE);
  });

  it.each(["tools/call", AMBIENT])("also a %s that is cancelled before it is made", async (method) => {
    const { link } = served({ call: () => replies({ kind: "result", value: {} }), notify: () => Promise.resolve() });
    const connection = await dialLink(link, { era: "legacy" });
    const context = contextOf({ client: { era: "legacy", protocolVersion: "2025-11-25" } });
    context.cancel.fire(new Fault("deadline", "too late"));
    const steps = connection.call({ method, params: {} }, context);
    await expect(steps.next()).rejects.toMatchObject({ code: "deadline" });
    expect(await steps.next()).toEqual(DONE);
    await connection.close();
  });

  it("nothing is told to a reader that left", async () => {
    const context = contextOf();
    const steps = guard(async function* () {
      yield { kind: "progress", params: {} };
      return {};
    }, context);
    await steps.next();
    await steps.return();
    context.cancel.fire(new Fault("deadline", "too late"));
    expect(await steps.next()).toEqual(DONE);
  });
});

describe("a message that cannot be taken", () => {
  it("is reported, and the link goes on", async () => {
    const [mine, theirs] = linkPair();
    const server = raw(theirs);
    const pace = (_: unknown, held: boolean): void => {
      if (held) throw new Error("no pace");
    };
    const faults: Fault[] = [];
    const dialing = dialLink(Object.assign(mine, { pace }), { era: "legacy", onFault: (fault) => void faults.push(fault) });
    const opening = await server.find((message) => message.kind === "request");
    const answers = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
    await server.send({ jsonrpc: "2.0", id: (opening as { id: number }).id, result: answers });
    const connection = await dialing;
    const context = contextOf({ client: { era: "legacy" }, progress: true });
    const slow = connection.call({ method: "tools/call", params: { name: "slow" } }, context);
    const first = slow.next();
    const call = (await server.find((message) => message.kind === "request" && message.method === "tools/call")) as { id: number };
    for (let progress = 1; progress <= 2; progress++) {
      const params = { progressToken: call.id, progress, message: "m".repeat(600_000) };
      await server.send({ jsonrpc: "2.0", method: "notifications/progress", params });
    }
    await until(() => faults.length > 0);
    expect(faults[0]?.message).toBe("no pace");
    await first;
    await server.send({ jsonrpc: "2.0", id: call.id, result: { still: "here" } });
    expect(await resultOf(slow)).toEqual({ still: "here" });
    await connection.close();
  });
});

describe("a call that cannot be answered on", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  it.each(["tools/call", "resources/read", "tools/list"])("is left: %s with a notification that cannot be written", async (method) => {
    let left = false;
    const service: Service = {
      call: (_, context) =>
        guard(async function* (): AsyncGenerator<Reply, undefined> {
          try {
            yield { kind: "note", method: "notifications/x", params: circular };
            yield { kind: "note", method: "notifications/x", params: circular };
            return undefined;
          } finally {
            left = true;
          }
        }, context),
      notify: () => Promise.resolve(),
    };
    const { client } = servedLines(service);
    await client.send(modern(1, method, {}, { "dev.anywire/window": 1000 }));
    expect(await client.answer(1)).toMatchObject({ kind: "error" });
    await until(() => left);
    await client.link.close();
  });

  it("is left where the one who takes its replies throws", async () => {
    const steps = replies({ kind: "progress", params: {} });
    await expect(
      resultOf(steps, () => {
        throw new Error("cannot take it");
      }),
    ).rejects.toThrow("cannot take it");
    expect(steps.left).toBe(true);
  });

  it("asks of nobody are refused, so that their server does not wait", async () => {
    const { reply, answer } = asking("roots/list");
    await resultOf(replies(reply, { kind: "result", value: {} }));
    await expect(answer).rejects.toMatchObject({ code: "unknown-method" });
  });
});
