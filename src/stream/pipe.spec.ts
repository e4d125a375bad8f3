import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Pipe, pipe } from "./pipe.js";

const fixed = { seed: 20260728, numRuns: 300 };

async function drain<T>(source: Pipe<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

/** What a promise has come to once everything that is due has run. */
async function outcome<T>(promise: Promise<T>): Promise<T | "pending"> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return Promise.race([promise, Promise.resolve("pending" as const)]);
}

describe("pipe", () => {
  test("writers wait in order and get in as the reader makes room", async () => {
    const line = pipe<number>({ items: 2 });
    const writes = [1, 2, 3, 4].map((value) => line.write(value));
    expect(await Promise.all(writes.map((write) => outcome(write)))).toEqual([true, true, "pending", "pending"]);
    expect(line.length).toBe(2);
    expect(line.offer(5)).toBe(false);
    expect(await line.next()).toEqual({ done: false, value: 1 });
    expect(await Promise.all(writes.map((write) => outcome(write)))).toEqual([true, true, true, "pending"]);
    expect(await line.next()).toEqual({ done: false, value: 2 });
    expect(line.offer(5)).toBe(false);
    expect(await line.next()).toEqual({ done: false, value: 3 });
    expect(line.offer(5)).toBe(true);
    line.close();
    expect(await drain(line)).toEqual([4, 5]);
  });

  test("a value above the whole byte limit is taken when the pipe is empty", async () => {
    const line = pipe<string>({ bytes: 4, size: (text) => text.length });
    expect(line.offer("ab")).toBe(true);
    const big = line.write("abcdefgh");
    expect(await outcome(big)).toBe("pending");
    expect(line.bytes).toBe(2);
    await line.next();
    expect(await outcome(big)).toBe(true);
    expect([line.length, line.bytes]).toEqual([1, 8]);
    expect(line.offer("")).toBe(false);
  });

  test("a waiting value is measured once", async () => {
    let measured = 0;
    const line = pipe<string>({ bytes: 1, size: () => ++measured && 1 });
    const writes = ["a", "b", "c"].map((value) => line.write(value));
    while (line.length > 0) await line.next();
    expect(await Promise.all(writes)).toEqual([true, true, true]);
    expect(measured).toBe(3);
  });

  test("close ends after what was taken and refuses the rest", async () => {
    const line = pipe<number>({ items: 1 });
    expect(await line.write(1)).toBe(true);
    const late = line.write(2);
    line.close();
    expect(await late).toBe(false);
    expect(await line.write(3)).toBe(false);
    expect(line.offer(3)).toBe(false);
    expect(await drain(line)).toEqual([1]);
    expect(await line.next()).toEqual({ done: true, value: undefined });
  });

  test("a failure is told once, after what was taken", async () => {
    const line = pipe<number>({ items: 2 });
    line.offer(1);
    line.fail("broken");
    line.fail("later");
    line.close();
    expect(await line.next()).toEqual({ done: false, value: 1 });
    await expect(line.next()).rejects.toBe("broken");
    expect(await line.next()).toEqual({ done: true, value: undefined });
  });

  test("an immediate failure takes the place of what was taken, also after a close", async () => {
    const line = pipe<number>({ items: 2, bytes: 9, size: () => 1 });
    line.offer(1);
    line.close();
    line.fail("broken", { now: true });
    expect([line.length, line.bytes]).toEqual([0, 0]);
    await expect(line.next()).rejects.toBe("broken");
    line.fail("again", { now: true });
    expect(await line.next()).toEqual({ done: true, value: undefined });
  });

  test("close and fail reach a pending next()", async () => {
    const closing = pipe<number>({});
    const end = closing.next();
    closing.close();
    expect(await end).toEqual({ done: true, value: undefined });
    const failing = pipe<number>({});
    const failed = failing.next();
    failing.fail("broken");
    await expect(failed).rejects.toBe("broken");
    expect(await failing.next()).toEqual({ done: true, value: undefined });
  });

  test("a failure without a reader is no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    pipe<number>({}).fail(new Error("nobody reads"));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  test("leaving reaches pending and later writers and the producer", async () => {
    const line = pipe<number>({ items: 1 });
    let heard = 0;
    const listener = (): void => void heard++;
    line.onAbandon(listener);
    line.onAbandon(listener);
    line.onAbandon(() => heard++)();
    line.offer(1);
    const waiting = line.write(2);
    await line.return();
    expect(await waiting).toBe(false);
    expect(await line.write(3)).toBe(false);
    expect(heard).toBe(2);
    line.onAbandon(listener);
    expect(heard).toBe(3);
    expect([line.length, await line.next()]).toEqual([0, { done: true, value: undefined }]);
  });

  test("leaving ends a pending next()", async () => {
    const line = pipe<number>({});
    const pending = line.next();
    await line.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(line.offer(1)).toBe(false);
  });

  test("leaving a loop is leaving the pipe; reading to the end is not", async () => {
    const left = pipe<number>({});
    const read = pipe<number>({});
    const heard: string[] = [];
    left.onAbandon(() => heard.push("left"));
    read.onAbandon(() => heard.push("read"));
    for (const line of [left, read]) {
      line.offer(1);
      line.close();
    }
    for await (const _ of left) break;
    await drain(read);
    await read.return();
    expect(heard).toEqual(["left"]);
  });

  test("a second reader and senseless limits are refused", async () => {
    const line = pipe<number>({});
    const first = line.next();
    await expect(line.next()).rejects.toThrow(TypeError);
    line.offer(1);
    expect(await first).toEqual({ done: false, value: 1 });
    expect(() => pipe({ items: 0 })).toThrow(RangeError);
    expect(() => pipe({ bytes: 1 })).toThrow(TypeError);
  });

  test("a long queue is read in linear time and in order", async () => {
    const line = pipe<number>({ items: 300_000 });
    for (let value = 0; value < 300_000; value++) line.offer(value);
    line.close();
    let expected = 0;
    for await (const value of line) if (value !== expected++) throw new Error(`${value} out of order`);
    expect(expected).toBe(300_000);
  });

  type Act = { readonly do: "write" | "offer"; readonly size: number } | { readonly do: "next" | "close" | "fail" | "return" };
  const act: fc.Arbitrary<Act> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("write" as const, "offer" as const), size: fc.integer({ min: 0, max: 12 }) }) },
    { weight: 5, arbitrary: fc.constant({ do: "next" as const }) },
    { weight: 1, arbitrary: fc.constantFrom({ do: "close" as const }, { do: "fail" as const }, { do: "return" as const }) },
  );

  test("whatever happens: order, bounds, nothing lost, nothing after the end", async () => {
    let endings = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 16 }),
        async (acts, items, bytes) => {
          const line = pipe<{ readonly size: number; readonly nr: number }>({ items, bytes, size: (value) => value.size });
          const took: number[] = [];
          const got: number[] = [];
          const writes: Promise<unknown>[] = [];
          let pending: Promise<unknown> | undefined;
          let open = true;
          let abandoned = 0;
          let failed = 0;
          line.onAbandon(() => abandoned++);
          const read = (): Promise<unknown> =>
            (pending ??= line.next().then(
              (step) => {
                pending = undefined;
                if (step.done !== true) got.push(step.value.nr);
              },
              () => {
                pending = undefined;
                failed++;
              },
            ));
          for (const [nr, step] of acts.entries()) {
            if (step.do === "write") {
              const wasOpen = open;
              writes.push(
                line.write({ size: step.size, nr }).then((taken) => {
                  if (taken) took.push(nr);
                  if (taken && !wasOpen) throw new Error("taken after the end");
                }),
              );
            } else if (step.do === "offer") {
              if (line.offer({ size: step.size, nr })) took.push(nr);
            } else if (step.do === "next") void read();
            else {
              open = false;
              endings++;
              if (step.do === "close") line.close();
              else if (step.do === "fail") line.fail("broken");
              else void line.return();
            }
            for (let turn = 0; turn < 4; turn++) await Promise.resolve();
            if (line.length > items) throw new Error("too many items");
            if (line.bytes > bytes && line.length > 1) throw new Error("too many bytes");
          }
          const left = acts.some((step) => step.do === "return") && abandoned === 1;
          // What still waits gets in as it is read; then the end.
          for (let turn = 0; turn <= acts.length && line.length > 0; turn++) await read();
          line.close();
          for (let turn = 0; turn < 3; turn++) await read();
          await Promise.all(writes);
          expect(abandoned).toBeLessThanOrEqual(1);
          expect(failed).toBeLessThanOrEqual(1);
          expect(took).toEqual([...took].sort((a, b) => a - b));
          expect(got).toEqual(left ? took.slice(0, got.length) : took);
        },
      ),
      fixed,
    );
    expect(endings).toBeGreaterThan(100);
  });
});
