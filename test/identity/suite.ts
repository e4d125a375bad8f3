import { afterAll, describe, expect, it } from "vitest";
import type { Caller } from "./caller.js";
import { type Chain, type ChainOptions, type ListenWire, openChain, type SocketWire } from "./chain.js";
import type { Row } from "./rows.js";
import { atOnce, crossed, forbidden, inARow, question, sideBySide, Tally } from "./scenarios.js";

/** A setting of the tests: which relays, and which server. */
export interface Setting extends Pick<ChainOptions, "inner" | "server"> {
  readonly row: Row<ListenWire | SocketWire>;
}

export const TEST_MS = 60_000;

/** The figures of a file, printed at its end. */
export function figures(title: string): (name: string, scenario: string, figure: unknown) => void {
  const lines: string[] = [];
  afterAll(() => console.log([title, ...lines].join("\n")));
  return (name, scenario, figure) => void lines.push(`  ${name.padEnd(52)} ${scenario.padEnd(22)} ${String(figure)}`);
}

export function nameOf({ row, inner }: Setting): string {
  return inner === undefined ? row.name : `${row.name}, then ${inner}`;
}

/** People whose names are in nothing but what they say. */
export const people: readonly string[] = ["Adaqua", "Borvix", "Cilzon", "Dorwex"];

/** Whether each scenario gets relays and a server of its own, so that nothing of one can explain a failure of another. */
export const wide: boolean = process.env["ANYWIRE_WIDE"] !== undefined;

/** Chains by what they are: clients of several kinds come to the same relay one after another, as they would to a real one. */
export class Chains {
  readonly #chains = new Map<string, Promise<Chain>>();

  open(options: ChainOptions): Promise<Chain> {
    const key = JSON.stringify(options);
    const known = this.#chains.get(key) ?? openChain(options);
    this.#chains.set(key, known);
    return known;
  }

  /** Closes a chain: on one where something failed calls may still be open. */
  async close(options: ChainOptions): Promise<void> {
    const key = JSON.stringify(options);
    const chain = this.#chains.get(key);
    this.#chains.delete(key);
    await (await chain?.catch(() => undefined))?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#chains.keys()].map((key) => this.close(JSON.parse(key) as ChainOptions)));
  }
}

/** Runs every scenario of one kind of client. */
export function callersAre(setting: Setting, chains: Chains, record: ReturnType<typeof figures>): void {
  const { row, inner, server } = setting;
  const options: ChainOptions = { listen: row.listen, inner, server, auth: row.by === "principal" };
  const name = nameOf(setting);
  describe(name, () => {
    const scenario = (title: string, run: (open: (name: string) => Promise<Caller>) => Promise<Tally>): void => {
      it(
        title,
        async () => {
          const opened: Caller[] = [];
          let fine = false;
          try {
            const chain = await chains.open(options);
            const tally = await run(async (name) => {
              const caller = await row.open(chain, name);
              opened.push(caller);
              return caller;
            });
            record(name, title, tally);
            fine = tally.wrong.length === 0;
          } finally {
            await Promise.all(opened.map((caller) => caller.close()));
            if (!fine || wide) await chains.close(options);
          }
        },
        TEST_MS,
      );
    };

    scenario("20 in a row", async (open) => {
      const tally = await inARow(await open("Adaqua"));
      expect.soft(tally.wrong).toEqual([]);
      return tally;
    });

    if (row.by !== "nothing")
      scenario("32 at once", async (open) => {
        const tally = await atOnce(await open("Adaqua"));
        expect.soft(tally.wrong).toEqual([]);
        return tally;
      });
    else
      scenario("32 at once, nobody known", async (open) => {
        const tally = await atOnce(await open("Adaqua"));
        expect.soft(forbidden(tally)).toEqual([]);
        return tally;
      });

    if (row.many || inner !== undefined)
      scenario("one after another", async (open) => {
        const tally = new Tally();
        for (const person of people) {
          const caller = await open(person);
          await question(caller, "ask", tally);
          await caller.close();
        }
        expect.soft(tally.wrong).toEqual([]);
        return tally;
      });

    if (row.many || inner !== undefined)
      scenario("side by side", async (open) => {
        const callers: Caller[] = [];
        const total = new Tally();
        for (const [at, person] of people.entries()) {
          callers.push(await open(person));
          if (at === 0) continue;
          const tally = await sideBySide(callers, 1000 + at);
          expect.soft([...crossed(callers), ...forbidden(tally)]).toEqual([]);
          total.add(tally);
          if (tally.hung > 0) total.wrong.push("a call hung");
        }
        // Now that it is quiet each of them is alone again.
        const after = new Tally();
        for (const caller of callers) await question(caller, "ask", after);
        expect.soft(after.wrong).toEqual([]);
        expect.soft(crossed(callers)).toEqual([]);
        total.wrong.push(...after.wrong);
        return total;
      });
    else it.skip("several clients: a stdio relay has one; see the two hops", () => {});
  });
}
