import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { pipe } from "./pipe.js";
import { until } from "./until.js";

describe("until", () => {
  test("passes values on and unhooks at the end", async () => {
    const { signal } = new AbortController();
    const source = pipe<number>({});
    source.offer(1);
    source.offer(2);
    source.close();
    const got: number[] = [];
    for await (const value of until(source, signal)) {
      got.push(value);
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
    }
    expect(got).toEqual([1, 2]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("an abort ends a pending next() and returns the source", async () => {
    const controller = new AbortController();
    const source = pipe<number>({});
    let left = 0;
    source.onAbandon(() => left++);
    const bounded = until(source, controller.signal);
    const pending = bounded.next();
    controller.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(left).toBe(1);
    expect(await bounded.next()).toEqual({ done: true, value: undefined });
  });

  test("an abort between two next() returns the source at once", async () => {
    const controller = new AbortController();
    const source = pipe<number>({});
    let left = 0;
    source.onAbandon(() => left++);
    source.offer(1);
    source.offer(2);
    const bounded = until(source, controller.signal);
    await bounded.next();
    controller.abort();
    expect(left).toBe(1);
    expect(await bounded.next()).toEqual({ done: true, value: undefined });
  });

  test("an aborted signal gives nothing and returns the source", async () => {
    const source = pipe<number>({});
    let left = 0;
    source.onAbandon(() => left++);
    source.offer(1);
    expect(await until(source, AbortSignal.abort()).next()).toEqual({ done: true, value: undefined });
    expect(left).toBe(1);
  });

  test("leaving returns the source and unhooks, also before the first next()", async () => {
    for (const begin of [true, false]) {
      const { signal } = new AbortController();
      const source = pipe<number>({});
      let left = 0;
      source.onAbandon(() => left++);
      const bounded = until(source, signal);
      const pending = begin ? bounded.next() : undefined;
      await bounded.return?.();
      expect(await (pending ?? bounded.next())).toEqual({ done: true, value: undefined });
      expect(left).toBe(1);
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
    }
  });

  test("an error of the source passes once and unhooks", async () => {
    const { signal } = new AbortController();
    const source = pipe<number>({});
    source.fail("broken");
    const bounded = until(source, signal);
    await expect(bounded.next()).rejects.toBe("broken");
    expect(await bounded.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a source that fails after the abort has nobody to tell", async () => {
    const controller = new AbortController();
    let fail: ((reason: unknown) => void) | undefined;
    const source = {
      [Symbol.asyncIterator]: (): AsyncIterator<number> => ({
        next: () =>
          new Promise((_, reject) => {
            fail = reject;
          }),
        return: () => Promise.reject(new Error("cleanup failed")),
      }),
    };
    const pending = until(source, controller.signal).next();
    controller.abort();
    fail?.(new Error("too late"));
    expect(await pending).toEqual({ done: true, value: undefined });
  });
});
