import { afterAll, describe, expect, it, vi } from "vitest";
import { type Caller, within } from "./caller.js";
import { type ChainOptions, type InnerWire, openChain } from "./chain.js";
import { type Cuttable, cuttable } from "./cuttable.js";
import { legacyConnectCaller } from "./peers/connect.js";
import { unarySessionCaller } from "./peers/grpc.js";
import { type Row, rows } from "./rows.js";
import { crossed, question, secretOf, Tally, telling } from "./scenarios.js";
import { Chains, figures, nameOf, TEST_MS, wide } from "./suite.js";

const record = figures("moments in the life of a relay");
const chains = new Chains();
afterAll(() => chains.closeAll());

const row = (name: string): Row => rows.find((each) => each.name === name) as Row;
const some = (...names: string[]): readonly Row[] => (wide ? rows : names.map(row));
const optionsOf = ({ listen, by }: Row, more: Partial<ChainOptions> = {}): ChainOptions => ({ listen, auth: by === "principal", ...more });

/** Opens clients on a chain for one test, and closes all of it in the end. */
async function withChain(options: ChainOptions, run: (open: (kind: Row, name: string) => Promise<Caller>) => Promise<void>): Promise<void> {
  const chain = await openChain(options);
  const opened: Caller[] = [];
  try {
    await run(async (kind, name) => {
      const caller = await kind.open(chain, name);
      opened.push(caller);
      return caller;
    });
  } finally {
    await Promise.all(opened.map((caller) => caller.close()));
    await chain.close();
  }
}

describe("a server that asks for roots before anybody listens", () => {
  const kinds = some(
    "stdio, SDK v1",
    "http, SDK v1",
    "http, SDK v2, legacy",
    "sse, SDK v1",
    "ws, raw, legacy",
    "grpc Session, grpc-js, legacy",
    "grpc RPCs in a session, grpc-js, legacy",
    "tunnel, grpc-js, legacy",
  );
  const inners: readonly InnerWire[] = ["grpc", "http", "ws", "tunnel", "unary", "sse"];
  const settings: readonly { kind: Row; inner?: InnerWire }[] = [
    ...kinds.map((kind) => ({ kind })),
    ...inners.map((inner) => ({ kind: row("http, SDK v1"), inner })),
  ];
  for (const { kind, inner } of settings.filter(({ kind }) => kind.era === "legacy"))
    it(
      `is answered by the client, ${nameOf({ row: kind, inner })}`,
      () =>
        withChain(optionsOf(kind, { inner, server: "v1 early" }), async (open) => {
          const caller = await open(kind, "Adaqua");
          const secret = secretOf(caller);
          const text = await within("the early question", caller.call("early", { secret }));
          record(nameOf({ row: kind, inner }), "early roots/list", text.replace(secret, "").trim());
          expect(text).toBe(`${secret} <- file:///Adaqua`);
        }),
      TEST_MS,
    );
});

describe("a legacy gRPC client that reconnects", () => {
  it.each([undefined, "grpc", "http"] as const)(
    "is asked again, and hears again: RPCs in a session, inner wire %s",
    async (inner) => {
      const chain = await openChain({ listen: "grpc", inner });
      const caller = await unarySessionCaller("Adaqua", chain.address);
      try {
        const tally = new Tally();
        for (let round = 0; round < 3; round++) {
          await question(caller, "ask", tally);
          await telling(caller, "log", tally);
          if (round < 2) await caller.reconnect();
        }
        record(nameOf({ row: row("grpc RPCs in a session, grpc-js, legacy"), inner }), "reconnects", tally);
        expect(tally.wrong).toEqual([]);
      } finally {
        await caller.close();
        await chain.close();
      }
    },
    TEST_MS,
  );

  it.each(["legacy", "modern"] as const)(
    "is asked again when it is a relay whose connection was cut, %s",
    async (era) => {
      let wires: Cuttable | undefined;
      const between = async (address: string): Promise<string> => {
        wires = await cuttable(Number(new URL(address).port));
        return `grpc://127.0.0.1:${wires.port}`;
      };
      const kind = row("http, SDK v1");
      try {
        await withChain({ listen: "http", inner: "grpc", between, dialing: { era } }, async (open) => {
          const caller = await open(kind, "Adaqua");
          const tally = new Tally();
          await question(caller, "ask", tally);
          for (let round = 0; round < 2; round++) {
            wires?.cut();
            await vi.waitFor(() => within("a read", caller.read("test://text")), { timeout: 20_000, interval: 50 });
            await question(caller, "ask", tally);
            await telling(caller, "log", tally);
          }
          record(`${kind.name}, then grpc, ${era}`, "connection cut twice", tally);
          expect(tally.wrong).toEqual([]);
        });
      } finally {
        await wires?.close();
      }
    },
    TEST_MS,
  );
});

describe("a question of a call that was given up", () => {
  const kinds = some(
    "http, SDK v1",
    "http, fetch, modern",
    "http, fetch, modern, bearer",
    "sse, SDK v1",
    "ws, raw, legacy",
    "ws, raw, modern",
    "grpc Session, grpc-js, legacy",
    "grpc RPCs, grpc-js, modern",
    "tunnel, grpc-js, modern",
    "Connect, fetch, modern",
  ).filter(({ many }) => many);
  for (const kind of kinds)
    for (const inner of [undefined, "grpc"] as const)
      it(
        `reaches nobody else, ${nameOf({ row: kind, inner })}`,
        async () => {
          const options = optionsOf(kind, { inner });
          const chain = await chains.open(options);
          const [leaver, stayer] = [await kind.open(chain, "Adaqua"), await kind.open(chain, "Borvix")];
          const tally = new Tally();
          let fine = false;
          try {
            void leaver.call("ask-later", { secret: secretOf(leaver), ms: 250 }).catch(() => {});
            // Long enough for the call to be at the server: if it is not, this shows nothing, and fails nothing.
            await new Promise((resolve) => setTimeout(resolve, 80));
            await leaver.close();
            // The only one with a call open when the leaver's question comes.
            await question(stayer, "ask-later", tally, 500);
            record(nameOf({ row: kind, inner }), "after one left", tally);
            expect(crossed([stayer, leaver])).toEqual([]);
            expect([tally.mistaken, tally.hung]).toEqual([0, 0]);
            fine = true;
          } finally {
            await stayer.close();
            if (!fine || wide) await chains.close(options);
          }
        },
        TEST_MS,
      );
});

describe("a modern client hears the levels that it asked for", () => {
  const kinds = some(
    "http, fetch, modern",
    "ws, raw, modern",
    "grpc Session, grpc-js, modern",
    "grpc RPCs, grpc-js, modern",
    "tunnel, grpc-js, modern",
  );
  for (const server of ["v1", "v1 http"] as const)
    for (const kind of kinds.filter(({ era, many }) => era === "modern" && many))
      it(
        `${kind.name}, in front of a legacy server on ${server === "v1" ? "stdio" : "HTTP"}`,
        async () => {
          const options = optionsOf(kind, { server });
          const caller = await kind.open(await chains.open(options), "Adaqua");
          let fine = false;
          try {
            const secrets = new Map<string, string>();
            for (const level of ["error", "debug", "", "warning"]) {
              const secret = secretOf(caller);
              secrets.set(level, secret);
              await within("levels", caller.call("levels", { secret }, level));
            }
            const arrived = (text: string): boolean => caller.heard.some((each) => each.includes(text));
            const heard = Object.fromEntries(
              [...secrets].map(([level, secret]) => [
                level,
                ["debug", "warning", "error"].filter((each) => arrived(`${each} of ${secret}`)),
              ]),
            );
            record(`${kind.name}, ${server}`, "log levels", JSON.stringify(heard));
            expect(heard).toEqual({ error: ["error"], debug: ["debug", "warning", "error"], "": [], warning: ["warning", "error"] });
            fine = true;
          } finally {
            await caller.close();
            if (!fine) await chains.close(options);
          }
        },
        TEST_MS,
      );
});

describe("after a resource was read over gRPC", () => {
  for (const kind of some("http, fetch, modern", "http, SDK v2, modern", "ws, raw, modern"))
    it(
      `questions and log entries still arrive, ${kind.name}`,
      () =>
        withChain(optionsOf(kind, { inner: "grpc" }), async (open) => {
          const caller = await open(kind, "Adaqua");
          const tally = new Tally();
          for (let round = 0; round < 3; round++) {
            await question(caller, "ask", tally);
            await telling(caller, "log", tally);
            expect(await within("a read", caller.read("test://text"))).toBe("hello");
          }
          await question(caller, "ask", tally);
          record(`${kind.name}, then grpc`, "reads between", tally);
          expect(tally.wrong).toEqual([]);
        }),
      TEST_MS,
    );
});

describe("a client that has nothing to be asked on", () => {
  it(
    "is refused its question and keeps its calls, Connect, fetch, legacy",
    async () => {
      const chain = await openChain({ listen: "grpc" });
      const caller = await legacyConnectCaller("Adaqua", chain.address);
      try {
        const tally = new Tally();
        await question(caller, "ask", tally);
        record("Connect, fetch, legacy", "cannot be asked", tally);
        expect(tally).toMatchObject({ refused: 1, hung: 0, mistaken: 0 });
        expect(await within("a read", caller.read("test://text"))).toBe("hello");
      } finally {
        await caller.close();
        await chain.close();
      }
    },
    TEST_MS,
  );
});
