import { describe, expect, test, vi } from "vitest";
import {
  Caller,
  Canceller,
  type Context,
  createServer,
  defaultLimits,
  type Era,
  Fault,
  type JsonObject,
  type Reply,
  type Server,
} from "../../src/core/index.js";
import { modernRules } from "../../src/era/dial/modern.js";
import { Peer } from "../../src/era/dial/peer.js";
import { serveLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { figure, patience } from "../fixtures/children/index.js";

const IN_FLIGHT = 128;

interface Counts {
  started: number;
  ended: number;
}

function service(counts: Counts): Server {
  return createServer({ name: "race", version: "1" })
    .tool("turns", {}, async ({ turns, at }) => {
      counts.started++;
      for (let left = Number(turns); left > 0; left--) await undefined;
      counts.ended++;
      return { content: [], structuredContent: { at } };
    })
    .tool("wait", {}, async (_args, ctx) => {
      counts.started++;
      await new Promise<void>((resolve) => ctx.cancel.on(resolve));
      counts.ended++;
      return "waited";
    });
}

/** Both ends on the memory wire, the calling one open to be looked into. */
function ends(counts: Counts): { peer: Peer; faults: Fault[]; served: Promise<void> } {
  const [mine, theirs] = linkPair();
  const faults: Fault[] = [];
  const served = serveLink(service(counts), theirs, { limits: { inFlight: IN_FLIGHT }, onFault: (fault) => faults.push(fault) });
  const peer = new Peer(mine, defaultLimits, (fault) => faults.push(fault));
  peer.rules = modernRules(peer);
  peer.ready = true;
  return { peer, faults, served };
}

function context(cancel: Canceller, era: Era = "modern"): Context {
  return {
    client: { identity: new Caller(), era, protocolVersion: "2026-07-28", capabilities: {} },
    cancel,
    progress: false,
    metadata: {},
  };
}
const call = (name: string, args: JsonObject): { method: string; params: JsonObject } => ({
  method: "tools/call",
  params: { name, arguments: args },
});

/** How one call ended: with its result, a fault, or left. Throws if it ended twice, or with another's result. */
async function outcome(replies: AsyncIterator<Reply>, at: number): Promise<string> {
  let ended: string | undefined;
  for (;;) {
    try {
      const step = await replies.next();
      if (step.done === true) return ended ?? "left";
      if (ended !== undefined) throw new Error(`a reply after ${ended}`);
      if (step.value.kind !== "result") continue;
      if ((step.value.value["structuredContent"] as JsonObject)["at"] !== at) throw new Error("the result of another call");
      ended = "result";
    } catch (error) {
      if (!(error instanceof Fault) || ended !== undefined) throw error;
      ended = error.code;
    }
  }
}

describe("a cancel that races the response", () => {
  test("100,000 times: one outcome each, and nothing is left behind", { timeout: 120_000 }, async () => {
    const counts: Counts = { started: 0, ended: 0 };
    const { peer, faults, served } = ends(counts);
    const total: Record<string, number> = { result: 0, cancelled: 0, left: 0 };
    const since = performance.now();
    const [waves, width] = [12_500, 8];
    for (let wave = 0; wave < waves; wave++) {
      await Promise.all(
        Array.from({ length: width }, async (_, n) => {
          const at = wave * width + n;
          const cancel = new Canceller();
          const replies = peer.call(call("turns", { turns: at % 5, at }), context(cancel));
          const ending = outcome(replies, at);
          // The moment moves over the whole exchange, from before the request is sent to after its answer has come.
          for (let turns = at % 127; turns > 0; turns--) await undefined;
          if (at % 2 === 0) cancel.fire(new Fault("cancelled", "raced"));
          else void replies.return();
          const how = await ending;
          total[how] = (total[how] ?? 0) + 1;
        }),
      );
    }
    figure(`${waves * width} races: ${JSON.stringify(total)}`, since);
    expect(Object.keys(total)).toEqual(["result", "cancelled", "left"]);
    expect(Object.values(total).reduce((sum, many) => sum + many)).toBe(waves * width);
    // Each of them has to have happened, or nothing was raced.
    for (const many of Object.values(total)) expect(many).toBeGreaterThan(1_000);
    // A cancel that comes after the answer is nobody's fault.
    expect(faults).toEqual([]);
    expect(peer.pending.size).toBe(0);

    // Not one entry is left on the other side either: exactly as many calls as ever fit in.
    const cancels = Array.from({ length: IN_FLIGHT + 1 }, () => new Canceller());
    const waiting = cancels.map((cancel) => outcome(peer.call(call("wait", {}), context(cancel)), -1));
    expect(await waiting[IN_FLIGHT]).toBe("overload");
    for (const cancel of cancels) cancel.fire(new Fault("cancelled", "enough"));
    expect(new Set(await Promise.all(waiting.slice(0, IN_FLIGHT)))).toEqual(new Set(["cancelled"]));
    await vi.waitFor(() => expect(counts.ended).toBe(counts.started), patience);
    await peer.shut(new Fault("unavailable", "done"));
    await served;
  });

  test("the end of the link races 10,000 calls: one outcome each", async () => {
    const counts: Counts = { started: 0, ended: 0 };
    let results = 0;
    for (let round = 0; round < 100; round++) {
      const { peer, served } = ends(counts);
      const calls = Array.from({ length: 100 }, (_, at) =>
        outcome(peer.call(call("turns", { turns: at % 5, at }), context(new Canceller())), at),
      );
      for (let turns = round % 37; turns > 0; turns--) await undefined;
      void peer.shut(new Fault("unavailable", "gone"));
      const ended = await Promise.all(calls);
      results += ended.filter((how) => how === "result").length;
      expect(ended.filter((how) => how !== "result" && how !== "unavailable")).toEqual([]);
      expect(peer.pending.size).toBe(0);
      await served;
    }
    console.log(`of 10,000 calls ${results} were answered before the end, the others once told of it`);
  });
});
