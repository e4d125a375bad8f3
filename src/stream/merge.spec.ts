import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { merge } from "./merge.js";
import { pipe } from "./pipe.js";

const fixed = { seed: 20260728, numRuns: 200 };

describe("merge", () => {
  test("gives values as they come, whichever source is slow", async () => {
    const [a, b] = [pipe<string>({}), pipe<string>({})];
    const both = merge(a, b);
    const first = both.next();
    b.offer("b1");
    expect(await first).toEqual({ done: false, value: "b1" });
    b.offer("b2");
    expect(await both.next()).toEqual({ done: false, value: "b2" });
    a.offer("a1");
    a.close();
    b.close();
    expect(await both.next()).toEqual({ done: false, value: "a1" });
    expect(await both.next()).toEqual({ done: true, value: undefined });
  });

  test("reads no further ahead than one value of each source", async () => {
    let made = 0;
    async function* source(): AsyncGenerator<number> {
      for (;;) yield made++;
    }
    const both = merge(source(), source());
    await both.next();
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    expect(made).toBeLessThanOrEqual(3);
    await both.return?.();
  });

  test("leaving returns every source, also during a pending next() and before the first", async () => {
    for (const begin of [true, false]) {
      const sources = [pipe<number>({}), pipe<number>({})];
      let left = 0;
      for (const source of sources) source.onAbandon(() => left++);
      const all = merge(...sources);
      const pending = begin ? all.next() : undefined;
      await all.return?.();
      expect(left).toBe(2);
      expect(await (pending ?? all.next())).toEqual({ done: true, value: undefined });
    }
  });

  test("leaving does not wait for a generator that is stuck", async () => {
    async function* stuck(): AsyncGenerator<number> {
      await new Promise(() => {});
    }
    const all = merge(stuck());
    const pending = all.next();
    await all.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test("the first error is told after what came before it, and ends the rest", async () => {
    const [a, b] = [pipe<number>({}), pipe<number>({})];
    let left = 0;
    a.onAbandon(() => left++);
    const all = merge(a, b);
    a.offer(1);
    b.offer(2);
    expect(await all.next()).toEqual({ done: false, value: 1 });
    b.fail("broken");
    expect(await all.next()).toEqual({ done: false, value: 2 });
    await expect(all.next()).rejects.toBe("broken");
    expect(left).toBe(1);
    expect(await all.next()).toEqual({ done: true, value: undefined });
  });

  test("a source that cannot be opened or throws at once is an error like another", async () => {
    const a = pipe<number>({});
    let left = 0;
    a.onAbandon(() => left++);
    const closed = {
      [Symbol.asyncIterator](): AsyncIterator<number> {
        throw new Error("no");
      },
    };
    await expect(merge(a, closed).next()).rejects.toThrow("no");
    const throwing = {
      [Symbol.asyncIterator]: (): AsyncIterator<number> => ({
        next() {
          throw new Error("not now");
        },
      }),
    };
    await expect(merge(pipe<number>({}), throwing).next()).rejects.toThrow("not now");
    expect(left).toBe(1);
  });

  test("nothing merged is an empty stream", async () => {
    expect(await merge().next()).toEqual({ done: true, value: undefined });
  });

  test("keeps the order within each source and loses nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 8 }), { maxLength: 4 }), async (waits) => {
        async function* source(name: number, turns: readonly number[]): AsyncGenerator<readonly [number, number]> {
          for (const [nr, wait] of turns.entries()) {
            for (let turn = 0; turn < wait; turn++) await Promise.resolve();
            yield [name, nr];
          }
        }
        const got = waits.map((): number[] => []);
        for await (const [name, nr] of merge(...waits.map((turns, name) => source(name, turns)))) got[name]?.push(nr);
        expect(got).toEqual(waits.map((turns) => [...turns.keys()]));
      }),
      fixed,
    );
  });
});
