import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deadline } from "./deadline.js";

describe("deadline", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("aborts when the time is up and leaves nothing behind", () => {
    const parent = new AbortController();
    const scope = deadline(parent.signal, 1000);
    vi.advanceTimersByTime(999);
    expect([scope.signal.aborted, scope.expired]).toEqual([false, false]);
    vi.advanceTimersByTime(1);
    expect([scope.signal.aborted, scope.expired]).toEqual([true, true]);
    expect((scope.signal.reason as DOMException).name).toBe("TimeoutError");
    expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
  });

  test("follows its parent, with the reason, and stops the timer", () => {
    const parent = new AbortController();
    const scope = deadline(parent.signal, 1000);
    parent.abort("stop");
    expect([scope.signal.aborted, scope.signal.reason, scope.expired]).toEqual([true, "stop", false]);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
  });

  test("an aborted parent aborts it from the start", () => {
    const scope = deadline(AbortSignal.abort("stop"), 1000);
    expect([scope.signal.aborted, scope.signal.reason]).toEqual([true, "stop"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("after the scope neither time nor parent reaches it", () => {
    const parent = new AbortController();
    let signal: AbortSignal;
    {
      using scope = deadline(parent.signal, 1000);
      signal = scope.signal;
      expect(vi.getTimerCount()).toBe(1);
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
    parent.abort();
    expect(signal.aborted).toBe(false);
  });

  test("waits longer than one timer can, forever, or not at all", () => {
    const month = 30 * 24 * 3600 * 1000;
    const long = deadline(undefined, month);
    vi.advanceTimersByTime(month - 1);
    expect(long.expired).toBe(false);
    vi.advanceTimersByTime(1);
    expect(long.expired).toBe(true);
    const forever = deadline(undefined, Number.POSITIVE_INFINITY);
    expect([forever.expired, vi.getTimerCount()]).toEqual([false, 0]);
    expect(deadline(undefined, 0).expired).toBe(true);
  });
});
