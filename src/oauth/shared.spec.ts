import { expect, it } from "vitest";
import { shared } from "./shared.js";

it("runs once for those who come together, and again for those who come later", async () => {
  let runs = 0;
  const one = shared<number>();
  const run = async (): Promise<number> => ++runs;
  expect(await Promise.all([one.join(run), one.join(run)])).toEqual([1, 1]);
  expect(await one.join(run)).toBe(2);
});

it("goes on while somebody waits, and is given up with the last", async () => {
  const one = shared<never>();
  const first = new AbortController();
  const second = new AbortController();
  let given: AbortSignal | undefined;
  const run = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      given = signal;
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const joined = [one.join(run, first.signal), one.join(run, second.signal)];
  first.abort(new Error("left"));
  await expect(joined[0]).rejects.toThrow("left");
  expect(given?.aborted).toBe(false);
  second.abort(new Error("left too"));
  await expect(joined[1]).rejects.toThrow("left too");
  expect(given?.aborted).toBe(true);
});

it("passes a failure on, and can be tried again", async () => {
  const one = shared<string>();
  await expect(one.join(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await one.join(async () => "yes")).toBe("yes");
});
