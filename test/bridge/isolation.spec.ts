import { afterAll, describe, expect, it, vi } from "vitest";
import { patience } from "../fixtures/children/index.js";
import type { Caller } from "../identity/caller.js";
import { within } from "../identity/caller.js";
import type { ListenWire } from "../identity/chain.js";
import { type Row, rows } from "../identity/rows.js";
import { atOnce, crossed, question, secretOf, sideBySide, Tally } from "../identity/scenarios.js";
import { people } from "../identity/suite.js";
import { openBridge, type TestBridge } from "./support.js";

const wires: readonly ListenWire[] = ["http", "sse", "ws", "grpc"];
const names = [
  "http, SDK v1",
  "http, SDK v2, legacy",
  "http, SDK v2, modern, bearer",
  "sse, SDK v1",
  "ws, raw, legacy",
  "ws, raw, modern",
  "grpc Session, grpc-js, legacy",
  "grpc RPCs in a session, grpc-js, legacy",
  "grpc RPCs, grpc-js, modern, bearer",
  "tunnel, grpc-js, modern",
];
const kinds = names.map((name) => rows.find((row) => row.name === name) as Row);

const bridges = new Map<boolean, Promise<TestBridge>>();
const bridgeFor = ({ by }: Row): Promise<TestBridge> => {
  const known = by === "principal";
  const found =
    bridges.get(known) ?? // The SDK leaves its sessions behind when it closes: they go when they are idle.
    openBridge(wires, { known, clientIdleMs: 5_000, maxUpstreams: 256 });
  bridges.set(known, found);
  return found;
};
afterAll(async () => {
  for (const made of bridges.values()) await (await made).close();
});

async function withCallers(row: Row, run: (callers: readonly Caller[]) => Promise<void>): Promise<void> {
  const made = await bridgeFor(row);
  const callers = await Promise.all(people.map((person) => row.open(made.at(row.listen), person)));
  try {
    await run(callers);
  } finally {
    await Promise.all(callers.map((caller) => caller.close()));
  }
}

describe.each(kinds)("auto, a legacy server: $name", (row) => {
  it("four clients side by side: every question is answered, and nothing crosses", { timeout: 60_000 }, () =>
    withCallers(row, async (callers) => {
      const tally = await sideBySide(callers, 7);
      expect(crossed(callers)).toEqual([]);
      expect(tally).toMatchObject({ hung: 0, mistaken: 0, refused: 0 });
      expect(tally.answered).toBe(tally.asked);
      // What a client was told came with its call.
      expect(tally.arrived).toBe(tally.sent);
    }),
  );

  it("32 questions at once are answered", { timeout: 60_000 }, () =>
    withCallers(row, async (callers) => {
      const tallies = await Promise.all(callers.map((caller) => atOnce(caller, 8)));
      expect(tallies.flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(tallies.reduce((sum, { answered }) => sum + answered, 0)).toBe(32);
      expect(crossed(callers)).toEqual([]);
    }),
  );

  it("a question after its call reaches whoever called, or nobody", { timeout: 60_000 }, () =>
    withCallers(row, (callers) => lateQuestions(row, callers)),
  );
});

/** Each caller is asked when its call is over, while the others call: it answers, or nobody does. */
async function lateQuestions(row: Row, callers: readonly Caller[]): Promise<void> {
  const secrets = await Promise.all(
    callers.map(async (caller) => {
      const secret = secretOf(caller);
      expect(await within("ask-after", caller.call("ask-after", { secret, ms: 200 }))).toBe(`done ${secret}`);
      return secret;
    }),
  );
  await Promise.all(callers.map((caller) => question(caller, "ask-later", new Tally(), 250)));
  for (const [at, caller] of callers.entries()) {
    const secret = secrets[at] as string;
    const told = await vi.waitFor(async () => {
      const text = await caller.call("answers", { secret });
      expect(text).toContain(secret);
      return text;
    }, patience);
    const line = told.split("\n").find((each) => each.startsWith(secret));
    if (row.era === "legacy") expect(line).toBe(`${secret} <- ${caller.name} says for ${secret}`);
    else expect(line).toMatch(new RegExp(`^${secret} (<- ${caller.name} says for ${secret}|refused)`));
  }
  expect(crossed(callers)).toEqual([]);
}

it("auto: stateless clients that nobody can tell apart each get a session of the pool for their call", { timeout: 60_000 }, async () => {
  const row = rows.find(({ name }) => name === "http, fetch, modern") as Row;
  await using made = await openBridge(["http"]);
  const callers = await Promise.all(people.map((person) => row.open(made.at("http"), person)));
  const tally = new Tally();
  await Promise.all(callers.flatMap((caller) => [question(caller, "ask", tally), question(caller, "sample", tally)]));
  expect(tally).toMatchObject({ asked: 8, answered: 8, wrong: [] });
  expect(made.upstream.sessions).toBe(9);
  // What a server asks when its call is over is for nobody: in the next seconds no other caller has its session.
  const [ada, ...others] = callers as [Caller, ...Caller[]];
  await ada.call("ask-after", { secret: secretOf(ada), ms: 200 });
  await Promise.all(others.map((caller) => question(caller, "ask-later", tally, 400)));
  expect(tally).toMatchObject({ asked: 11, answered: 11, wrong: [] });
  expect(crossed(callers)).toEqual([]);
  await Promise.all(callers.map((caller) => caller.close()));
});

const inner: readonly ListenWire[] = ["http", "ws", "grpc"];
const outer = kinds.filter(({ name }) => name === "http, SDK v1" || name === "http, SDK v2, modern, bearer");

describe.each(inner)("auto, two bridges with %s between them", (wire) => {
  it.each(outer)(
    "four clients side by side: every question is answered, late ones too, and nothing crosses: $name",
    { timeout: 60_000 },
    async (row) => {
      await using back = await openBridge([wire]);
      await using front = await openBridge(["http"], { to: back.at(wire).address, known: row.by === "principal" });
      const callers = await Promise.all(people.map((person) => row.open(front.at("http"), person)));
      const tally = await sideBySide(callers, 11, 4);
      expect(crossed(callers)).toEqual([]);
      expect(tally).toMatchObject({ hung: 0, mistaken: 0, refused: 0 });
      expect(tally.answered).toBe(tally.asked);
      await lateQuestions(row, callers);
      await Promise.all(callers.map((caller) => caller.close()));
    },
  );
});
