import { afterAll, describe, expect, test } from "vitest";
import { type Connection, type JsonObject, wireFor } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { fixturePath } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { call, envelope, initialize, opener, type Raw, rawMemory } from "../fixtures/raw.js";

const ROUNDS = 1_000;
const who = (response: JsonObject): unknown => (response["result"] as { structuredContent: { who: string } }).structuredContent.who;

/** Answers in the order of arrival, each checked to be its own client's. */
async function race(a: Raw, b: Raw, meta: JsonObject | undefined): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const from = [a.heard.length, b.heard.length];
    a.send(call(0, "echo", { who: `a${round}` }, meta));
    b.send(call(0, "echo", { who: `b${round}` }, meta));
    const [first, second] = await Promise.all(
      [a, b].map((raw, at) => raw.hear((message) => message["id"] === 0 && raw.heard.indexOf(message) >= (from[at] as number))),
    );
    if (who(first as JsonObject) !== `a${round}` || who(second as JsonObject) !== `b${round}`) throw new Error(`crossed in round ${round}`);
  }
  for (const raw of [a, b]) expect(raw.heard.filter(({ id }) => id === 0)).toHaveLength(ROUNDS);
  // And all at a time, with the same ids.
  const name = new Map([
    [a, "a"],
    [b, "b"],
  ]);
  for (let id = 1; id <= ROUNDS; id++) for (const [raw, mine] of name) raw.send(call(id, "echo", { who: `${mine} ${id}` }, meta));
  for (const [raw, mine] of name)
    for (let id = 1; id <= ROUNDS; id++) if (who(await raw.response(id)) !== `${mine} ${id}`) throw new Error(`crossed at id ${id}`);
}

describe("16. two clients use the same ids at the same time, 1,000 times: nothing crosses", () => {
  const open = opener((service: Parameters<typeof rawMemory>[0]) => rawMemory(service));
  const upstreams: Connection[] = [];
  afterAll(async () => {
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    await nobodyLeft();
  });

  test.each(["legacy", "modern"])("on one service (%s)", async (era) => {
    const service = contractService();
    const [a, b] = [open(service), open(service)];
    if (era === "legacy") await Promise.all([initialize(a), initialize(b)]);
    await race(a, b, era === "modern" ? envelope() : undefined);
  });

  test.each([
    ["legacy", "legacy"],
    ["modern", "legacy"],
    ["legacy", "modern"],
  ] as const)("on one stdio upstream that they share (%s clients, %s upstream)", async (front, back) => {
    const command = { command: process.execPath, args: [fixturePath("../contract-server.mjs"), "stdio:", "legacy", "modern"] };
    const upstream = await (await wireFor(command)).dial(command, { era: back });
    upstreams.push(upstream);
    const [a, b] = [open(upstream), open(upstream)];
    if (front === "legacy") await Promise.all([initialize(a), initialize(b)]);
    await race(a, b, front === "modern" ? envelope() : undefined);
  });
});
